import { api, type Json, type Paged, save, selected } from '../../kit/api.ts'
import { csvText } from '../../kit/csv.ts'
import { number } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { useBusy } from '../../kit/pieces.tsx'
import { toast } from '../../kit/toast.tsx'

/** Exports the messages that match the filters, at most 10,000. */
export function Export({ query }: { query: Record<string, string | undefined> }) {
  const [isBusy, exportAs] = useBusy(async (format: 'csv' | 'json') => {
    const all = await loadAll({ ...query, limit: '100' })
    const name = `messages-${new Date().toISOString().slice(0, 10)}.${format}`
    if (format === 'json') save(name, 'application/json', JSON.stringify(all, null, 2))
    else save(name, 'text/csv', csvOf(all))
    toast(
      `${number(all.length)} ${all.length === 1 ? 'message' : 'messages'} exported${all.length >= MAX_EXPORTED ? '. This is the limit: narrow the filters to export the rest.' : ''}`,
    )
  })
  return (
    <Menu
      name={isBusy ? 'Exporting…' : 'Export'}
      className=""
      label={
        <>
          <Icon name="download" />
          {isBusy ? 'Exporting…' : 'Export'}
        </>
      }
    >
      <MenuItem onPress={() => exportAs('csv')}>Export CSV</MenuItem>
      <MenuItem onPress={() => exportAs('json')}>Export JSON</MenuItem>
    </Menu>
  )
}

const MAX_EXPORTED = 10_000

async function loadAll(query: Record<string, string | undefined>): Promise<Json[]> {
  const all: Json[] = []
  const headers = selected()
  for (let cursor: string | undefined; ; ) {
    const page = await api<Paged>('GET', '/v1/messages', { query: { ...query, cursor }, headers })
    all.push(...page.data)
    if (page.next_cursor === null || all.length >= MAX_EXPORTED) return all
    cursor = page.next_cursor
  }
}

const CSV = [
  'id',
  'created_at',
  'status',
  'mode',
  'from',
  'recipient',
  'type',
  'recipient_status',
  'subject',
  'tags',
] as const

/** One line per recipient. */
function csvOf(messages: Json[]): string {
  const lines = messages.flatMap((message) =>
    message.recipients.map(({ email, type, status }: Json) => {
      const line = { ...message, tags: message.tags.join(' '), recipient: email, type, recipient_status: status }
      return CSV.map((name) => String(line[name] ?? ''))
    }),
  )
  return csvText([CSV, ...lines])
}
