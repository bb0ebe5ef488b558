import { expect, test } from 'bun:test'
import { commandTree } from '../../cli/manual/packed.ts'
import { EVENT_TYPES } from '../../model/event.ts'
import { Refusal } from '../../model/refusal.ts'
import { keysOf } from '../../os/records.ts'
import { STATUS_OF, toBody } from '../api/errors.ts'
import { readOperations, readPages } from './bundle.ts'
import { withTables } from './tables.ts'

test('the page of webhooks lists every event type once, with its own fields', async () => {
  const rows = (await readPages(commandTree(), await readOperations()))
    .get('webhooks')!
    .markdown.split('\n')
    .filter((line) => /^\| `\w+\.\w+` \|/.test(line))
  expect(rows.map((row) => row.split('`')[1] ?? '').toSorted()).toEqual(EVENT_TYPES.toSorted())
  expect(rows).toContain(
    '| `message.deferred` | An attempt failed and will be retried | `deferred_at`, `attempt`, `next_attempt_at`, `smtp_response` |',
  )
})

test('a page that names an unknown table is refused', () => {
  expect(withTables('a\n<!-- table of b -->\nc', { b: '| b |' })).toBe('a\n| b |\nc')
  expect(() => withTables('<!-- table of c -->', { b: '| b |' })).toThrow('no table of c')
})

test('every error code has a section, to which its errors link', async () => {
  const { sections } = (await readPages(commandTree(), await readOperations())).get('errors')!
  const anchors = sections.map(({ anchor }) => `/manual/errors#${anchor}`)
  for (const code of keysOf(STATUS_OF)) {
    const { docs = '' } = toBody(new Refusal(code, 'x'), 'r').error.details
    expect(anchors).toContain(String(docs))
    expect(sections.find(({ heading }) => heading === code)?.words).toMatch(/^Status \d{3}\. .+ Fix: .+/)
  }
})
