"""``python -m agy_kernel -f CONNECTION_FILE``: how Jupyter starts the kernel."""

from ipykernel.kernelapp import IPKernelApp
from traitlets import Unicode

from .kernel import AgyKernel


class AgyKernelApp(IPKernelApp):
    """An ipykernel that keeps its own IPython profile, and with it its own history."""

    name = Unicode("agy-kernel")
    profile = Unicode("antigravity")
    auto_create = True
    kernel_class = AgyKernel


if __name__ == "__main__":
    AgyKernelApp.launch_instance()
