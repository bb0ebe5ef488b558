import { get, type Json } from '../../kit/api.ts'
import { useLoad } from '../../kit/load.ts'
import { Empty } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { type Column, Table } from '../../kit/table.tsx'

/** Message streams and their rules, read-only: they are in the config file. */
export function Streams() {
  const { data, ...rest } = useLoad((signal) => get<{ data: Json[] }>('/v1/configuration', {}, signal), [])
  return (
    <div class="stack">
      <p class="muted">
        A message chooses its stream with the field <code>stream</code>. To change the rules of a stream, edit its
        section <code>[sending.streams.NAME]</code> in the config file and restart the server. A new value of{' '}
        <code>redact_content_after</code> applies to messages accepted from then on.
      </p>
      <Table
        name="Message streams"
        columns={COLUMNS}
        loaded={{ ...rest, data: data && streamsIn(data.data) }}
        keyOf={({ name }) => name}
        whenEmpty={<Empty name="No streams" />}
      />
    </div>
  )
}

interface Stream {
  name: string
  pool: string
  unsubscribe: string
  redactAfter: string
}

/** Values of the configuration → the streams that have them, each key as the config file writes it. */
function streamsIn(settings: Json[]): Stream[] {
  const streams = new Map<string, Stream>()
  for (const { key, value } of settings) {
    const [, name, field] = /^sending\.streams\.([\w-]+)\.(\w+)$/.exec(key) ?? []
    if (name === undefined || field === undefined) continue
    const stream = streams.get(name) ?? { name, pool: '', unsubscribe: '', redactAfter: '' }
    if (field === 'pool') stream.pool = unquoted(value)
    if (field === 'unsubscribe') stream.unsubscribe = value
    if (field === 'redact_content_after') stream.redactAfter = unquoted(value)
    streams.set(name, stream)
  }
  return [...streams.values()]
}

const unquoted = (value: string) => value.replace(/^"(.*)"$/, '$1')

const COLUMNS: Column<Stream>[] = [
  {
    name: 'Stream',
    show: ({ name }) => <a href={href('/messages', { stream: name })}>{name}</a>,
  },
  {
    name: 'Content deleted',
    show: ({ redactAfter }) =>
      redactAfter === '' ? 'When the retention ends' : `${redactAfter} after the last delivery`,
  },
  { name: 'Pool', show: ({ pool }) => pool || <span class="muted">Any</span> },
  {
    name: 'List-Unsubscribe',
    show: ({ unsubscribe }) => (unsubscribe === 'true' ? 'Added to each message' : 'As the domain says'),
  },
]
