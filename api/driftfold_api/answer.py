"""What all answers share."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """An answer; a client passes over fields that it does not know."""

    model_config = ConfigDict(extra="ignore", frozen=True)
