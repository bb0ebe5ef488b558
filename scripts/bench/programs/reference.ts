/** The maximum of this machine: a bare server that accepts the same requests and commits each body as one row, all
 *  of one turn together, without checks, packing, indexes or log. It stays unchanged while the server gets faster.
 *  Prints `{"http": "host:port"}`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { connect } from '../../../src/storage/sqlite/driver.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-reference-'))
const db = connect(join(folder, 'reference.db'), { busyTimeoutMs: 0 })
db.exec('create table bodies (number integer primary key, body text not null) strict')
const insert = db.prepare('insert into bodies (body) values (?)')
const commit = db.transaction((group: typeof waiting) => {
  for (const { body } of group) insert.run(JSON.stringify(body))
})
let waiting: { body: unknown; written: () => void }[] = []

function write(body: unknown): Promise<void> {
  return new Promise((written) => {
    if (waiting.push({ body, written }) === 1) setImmediate(flush)
  })
}

function flush(): void {
  const group = waiting
  waiting = []
  commit.immediate(group)
  for (const { written } of group) written()
}

const app = new Elysia({ serve: { reusePort: false } }).post('/v1/messages/send', async ({ body, set }) => {
  await write(body)
  set.status = 202
  return { status: 'queued' }
})
app.listen({ hostname: '127.0.0.1', port: 0 })
console.log(JSON.stringify({ http: `127.0.0.1:${app.server!.port}` }))
process.on('SIGTERM', () => {
  db.close()
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
