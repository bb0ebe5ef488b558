/** `bun scripts/bench/size/oldest.ts DATA_DIR` prints when the oldest message was accepted. */
import { join } from 'node:path'
import { connect } from '../../../src/storage/sqlite/driver.ts'

const db = connect(join(process.argv[2]!, 'postrider.db'), { busyTimeoutMs: 5_000, readonly: true })
console.log(db.prepare('select created_at from messages order by number limit 1').pluck().get())
db.close()
