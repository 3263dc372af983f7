"""How jobs are to be run, where they come from, and what else became of them."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; jobs that are there have the usual terms."""
    for column in (
        sa.Column("terms", sa.Text, nullable=False, server_default="{}"),
        sa.Column("job_group", sa.String(36), nullable=False, server_default=""),
        sa.Column("origin", sa.Text),
        sa.Column("dead", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("diverged", sa.BigInteger),
    ):
        op.add_column("jobs", column)
