"""Azure OpenAI: the chat completions protocol with the key in `api-key`, and the version of the API in the address."""

from __future__ import annotations

from assay.judging.openai import OpenAIProvider
from assay.records.verdicts import JudgeIdentity


class AzureProvider(OpenAIProvider):
    """The provider of Azure OpenAI.

    The base address is that of a deployment, `https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT`, or of the
    current interface, `https://NAME.openai.azure.com/openai/v1`, which needs no version.
    """

    def build_headers(self, key: str, identity: JudgeIdentity) -> dict[str, str]:
        """Return the headers, with the key if there is one."""
        return {"api-key": key} if key else {}

    def build_query(self, identity: JudgeIdentity) -> dict[str, str]:
        """Return the parameters of the address: `api-version`, if the settings give one."""
        version = identity.parameters.get("api_version")
        return {"api-version": str(version)} if version else {}
