import { get, type Json } from '../../kit/api.ts'
import { Check } from '../../kit/form.tsx'
import { useLoad } from '../../kit/load.ts'
import { Empty, Filters, withBreaks } from '../../kit/pieces.tsx'
import { place, setQuery, setSearch } from '../../kit/router.ts'
import { type Column, Table } from '../../kit/table.tsx'

/** The effective configuration, read-only. Without a search or "Show defaults": only the keys that are set. */
export function Configuration() {
  const loaded = useLoad((signal) => get<{ data: Json[] }>('/v1/configuration', {}, signal), [])
  const { q = '', all = '' } = place.value.query
  const rows = loaded.data?.data.filter(({ key, is_given }) => (all !== '' || is_given || q !== '') && key.includes(q))
  return (
    <>
      <Filters search={q} onSearch={(q) => setSearch({ q })} placeholder="Key name">
        <span onChange={() => setQuery({ all: all === '' ? 'yes' : '' })}>
          <Check name="all" label="Show defaults" isOn={all !== ''} />
        </span>
      </Filters>
      <Table
        name="Configuration"
        columns={COLUMNS}
        loaded={{ ...loaded, data: rows }}
        keyOf={({ key }) => key}
        whenEmpty={<Empty name={q === '' ? 'All keys have their default values' : 'No keys match'} />}
      />
      {rows && (
        <p class="muted small">
          Edit the config file to change these values. Most keys take effect after a restart;{' '}
          <code>systemctl reload</code> applies the log level and certificates.
        </p>
      )}
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  { name: 'Key', width: '30%', show: ({ key }) => <span class="mono wrapped">{withBreaks(key)}</span> },
  { name: 'Value', show: ({ value }) => <span class="mono wrapped">{indented(value)}</span> },
  {
    name: 'Source',
    width: '26%',
    show: ({ source }) => <span class="muted wrapped">{withBreaks(source)}</span>,
  },
]

/** Objects and lists of objects on several lines; everything else as it is. */
function indented(value: string): string {
  if (!/^\[?\{/.test(value)) return value
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}
