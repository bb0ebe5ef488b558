import { servePool } from '../../os/pool-worker.ts'
import { serveThread } from '../../os/thread-entry.ts'
import { type Connection, connect } from './driver.ts'
import { performRead, type ReadingSettings, type ReadJob } from './reader.ts'
import { type Reads, readsOn } from './reads.ts'

/** The reading thread: a connection that cannot write. It runs one read at a time. */
serveThread((post) => {
  let open: { db: Connection; reads: Reads } | null = null
  return servePool<ReadJob, unknown>(post, (job, _context, settings) => {
    if (job.name === 'close') {
      open?.reads.closeSearch()
      return open?.db.close()
    }
    if (open === null) {
      const { file } = settings as ReadingSettings // from the pool's owner
      const db = connect(file, { busyTimeoutMs: LOCK_PATIENCE_MS, readonly: true })
      open = { db, reads: readsOn(db) }
    }
    const { db, reads } = open
    db.exec('begin') // so that its statements see one state of the database
    try {
      return performRead(reads, job.name, job.args)
    } finally {
      db.exec('commit')
    }
  })
})

/** A reader of a log (WAL) waits for others only while one recovers it. */
const LOCK_PATIENCE_MS = 5_000
