import { expect, test } from 'bun:test'
import type { AuditEntry } from '../../model/audit-entry.ts'
import { auditedAction } from '../records/audit-log.ts'
import { accompanying } from './accompany.ts'
import { connect } from './driver.ts'
import { migrate } from './migrate.ts'
import { createWriter } from './writer.ts'

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
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  db.exec(`insert into blocked_links values ('blk_a', 'host', 'a.example', 'spam', 0)`)
  const remove = () => db.prepare('delete from blocked_links').run().changes
  const memory = { beginning: () => {}, begun: () => {}, ending: () => {}, undone: remove } // as another process might
  const action = auditedAction()
  const writer = createWriter(db, memory, { accompany: accompanying(db, action) })
  const note = { isKept: false, entry: () => ENTRY }
  const removed = action.run(note, () => writer.write(remove))
  const failed = writer.write(() => {
    throw new Error('no')
  })
  expect(failed).rejects.toThrow('no')
  expect(await removed).toBe(0)
  expect([note.isKept, db.prepare('select count(*) from audit_log').pluck().get()]).toEqual([false, 0])
  await writer.idle()
  db.close()
})
