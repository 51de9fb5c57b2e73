"""What the simulator says of itself: models, modes, commands, sign-in methods, error texts.

Taken from Google's build RC01 as the first seed document saw it ("initialize", "session/new").
"""

from __future__ import annotations

from typing import Any

from ... import __version__

PROTOCOL_VERSION = 1
AGENT_INFO = {
    "name": "antigravity-acp",
    "title": "Google Antigravity (simulator)",
    "version": f"simulator-{__version__}",
}
CAPABILITIES: dict[str, Any] = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"list": {}, "resume": {}},
    "auth": {"logout": {}},
}

AUTH_METHODS = [
    {
        "description": "Log in with your Google account",
        "id": "oauth-personal",
        "name": "Log in with Google",
    },
    {
        "description": "Log in with your Gemini Enterprise account",
        "id": "oauth-business",
        "name": "Log in with Gemini Enterprise",
    },
    {
        "description": "Use an API key with Gemini Developer API",
        "id": "gemini-api-key",
        "name": "Gemini API key",
    },
    {
        "description": (
            "Use Gemini Enterprise Agent Platform (formerly Vertex AI) with Application Default "
            "Credentials or an API key"
        ),
        "id": "agent-platform",
        "name": "Gemini Enterprise Agent Platform",
    },
]
NOT_SIGNED_IN = (
    "No authentication method selected. Either call the `authenticate` method (supports "
    "oauth-personal, gemini-api-key, agent-platform), or set `auth.type` in settings.json "
    "(~/.gemini/antigravity-acp/settings.json) to one of: oauth-personal, gemini-api-key "
    "(requires GEMINI_API_KEY env var), oauth-business (Gemini Enterprise; requires "
    "gcp.project/location), agent-platform (formerly 'vertex-ai', still accepted; requires "
    "GOOGLE_API_KEY, or a project and location from GOOGLE_CLOUD_PROJECT/GOOGLE_CLOUD_LOCATION "
    "or gcp.project/gcp.location with Application Default Credentials)."
)
SIGN_IN_FAILED = "Onboarding failed: The authentication flow did not complete successfully."

COMMANDS = [
    {
        "name": "plan",
        "description": (
            "Plan carefully before executing a task (generates an implementation plan artifact "
            "and awaits user approval)."
        ),
    },
    {"name": "logout", "description": "Log out and clear stored credentials."},
]

DEFAULTS = {"model": "gemini-3.7-flash-high", "mode": "default"}
MODELS = {
    "gemini-3.8-flash-high": "Gemini 3.8 Flash (High)",
    "gemini-3.8-flash-medium": "Gemini 3.8 Flash (Medium)",
    "gemini-3.8-flash-low": "Gemini 3.8 Flash (Low)",
    "gemini-3.7-flash-high": "Gemini 3.7 Flash (High)",
    "gemini-3.7-flash-medium": "Gemini 3.7 Flash (Medium)",
    "gemini-3.7-flash-low": "Gemini 3.7 Flash (Low)",
    "gemini-3.6-flash-high": "Gemini 3.6 Flash (High)",
    "gemini-3.6-flash-medium": "Gemini 3.6 Flash (Medium)",
    "gemini-3.6-flash-low": "Gemini 3.6 Flash (Low)",
    "gemini-pro-agent": "Gemini 3.1 Pro (High)",
    "gemini-3.1-pro-low": "Gemini 3.1 Pro (Low)",
}
MODES = {
    "default": ("Default", "Default permission prompt flow"),
    "auto_edit": ("Auto Edit", "Auto-approve file edit tools"),
    "yolo": ("YOLO", "Auto-approve all tools"),
}
CHOICES = {"model": tuple(MODELS), "mode": tuple(MODES)}


def session_state(config: dict[str, str]) -> dict[str, Any]:
    """What ``session/new``, ``load`` and ``resume`` answer, less the session's id.

    Args:
        config: the chosen ``model`` and ``mode``.
    """
    return {
        "modes": {
            "currentModeId": config["mode"],
            "availableModes": [
                {"id": mode, "name": name, "description": description}
                for mode, (name, description) in MODES.items()
            ],
        },
        "models": {
            "availableModels": [
                {"modelId": model, "name": name, "description": model}
                for model, name in MODELS.items()
            ],
            "currentModelId": config["model"],
        },
        "configOptions": config_options(config),
    }


def config_options(config: dict[str, str]) -> list[dict[str, Any]]:
    """The whole list of config options, as ``session/set_config_option`` answers too."""
    models = [{"value": m, "name": name, "description": m} for m, name in MODELS.items()]
    modes = [{"value": m, "name": name, "description": d} for m, (name, d) in MODES.items()]
    return [
        _select("model", "Model", config["model"], models),
        _select("mode", "Session Mode", config["mode"], modes),
    ]


def _select(
    option_id: str, name: str, current: str, values: list[dict[str, str]]
) -> dict[str, Any]:
    return {
        "currentValue": current,
        "id": option_id,
        "name": name,
        "category": option_id,
        "type": "select",
        "options": values,
    }
