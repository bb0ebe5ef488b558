import { expect, test } from 'bun:test'
import { commandTree } from '../../cli/manual/packed.ts'
import { EVENT_TYPES } from '../../model/event.ts'
import { readPages } from './bundle.ts'
import { withTables } from './tables.ts'

test('the page of webhooks lists every event type once, with its own fields', async () => {
  const rows = (await readPages(commandTree()))
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
