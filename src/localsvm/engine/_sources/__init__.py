"""Where blocks of rows come from: arrays, batches, Parquet files, a folder of ours."""

from localsvm.engine._sources._block import (
    Block as Block,
    Labels as Labels,
    make_block as make_block,
)
from localsvm.engine._sources._columns import missing_column as missing_column
from localsvm.engine._sources._parquet import (
    is_dataset as is_dataset,
    open_parquet as open_parquet,
    open_queries as open_queries,
)
from localsvm.engine._sources._source import (
    Batches as Batches,
    BatchForm as BatchForm,
    MemoryPart as MemoryPart,
    Part as Part,
    Source as Source,
    frame_names as frame_names,
    open_batches as open_batches,
    rows_dtype as rows_dtype,
)
from localsvm.engine._sources._spool import spool as spool
