import { serveThread } from '../../src/os/thread-entry.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'

/** A thread that says when it begins a statement of a few hundred milliseconds, and when it has finished it. */
serveThread((post) => () => {
  const statement = connect(':memory:', { busyTimeoutMs: 0 }).prepare(
    'with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) select max(i) as last from n',
  )
  post('begins')
  statement.all()
  post('ends')
})
