import { expect, spyOn, test } from 'bun:test'
import type { AuditEntry } from '../../model/audit-entry.ts'
import { run, sql } from '../sql.ts'
import { performingOn } from '../sqlite/database.ts'
import { connect } from '../sqlite/driver.ts'
import { migrate } from '../sqlite/migrate.ts'
import { createWriter } from '../sqlite/writer.ts'
import { accompanied } from './accompany.ts'
import { auditedAction } from './audit-log.ts'

const ENTRY: AuditEntry = {
  id: 'aud_00000000000000000000000000',
  organizationId: null,
  at: 0,
  actor: { type: 'operator', id: 'operator', name: 'root' },
  action: 'blocked_links_delete',
  resourceId: null,
  createdId: null,
  fields: [],
  ipAddress: null,
  outcome: 'done',
  requestId: 'req_a',
}

test('an entry that was rolled back with its group is not kept if the change then finds nothing to change', async () => {
  const stopped = spyOn(performance, 'now').mockReturnValue(0) // so that the group does not end early on a slow machine
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  db.exec(`insert into blocked_links values ('blk_a', 'host', 'a.example', 'spam', 0)`)
  const statement = sql('delete from blocked_links')
  const performNow = performingOn(db)
  const remove = () => performNow(run(statement))
  const memory = { beginning: () => {}, begun: () => {}, ending: () => {}, undone: remove } // as another process might
  const action = auditedAction()
  const writer = createWriter(db, memory)
  const note = { isKept: false, entry: () => ENTRY }
  const work = action.run(note, () => accompanied(action, () => run(statement)))
  const removed = writer.write(() => performNow(work()))
  const failed = writer.write(() => {
    throw new Error('no')
  })
  expect(failed).rejects.toThrow('no')
  expect(await removed).toBe(0)
  expect([note.isKept, db.prepare('select count(*) from audit_log').pluck().get()]).toEqual([false, 0])
  await writer.idle()
  db.close()
  stopped.mockRestore()
})
