import { get, type Json } from '../../kit/api.ts'
import { Check } from '../../kit/form.tsx'
import { useLoad } from '../../kit/load.ts'
import { Empty, Filters } from '../../kit/pieces.tsx'
import { ask, place } from '../../kit/router.ts'
import { type Column, Table } from '../../kit/table.tsx'

/** The config as it is in effect, to be read; it is changed in its file. */
export function Configuration() {
  const loaded = useLoad((signal) => get<{ data: Json[] }>('/v1/configuration', {}, signal), [])
  const { q = '', all = '' } = place.value.query
  const rows = loaded.data?.data.filter(({ key, is_given }) => (all !== '' || is_given || q !== '') && key.includes(q))
  return (
    <>
      <Filters search={q} onSearch={(q) => ask({ q })} placeholder="Name of a key">
        <span onChange={() => ask({ all: all === '' ? 'yes' : '' })}>
          <Check name="all" label="Also what is left at its default" isOn={all !== ''} />
        </span>
      </Filters>
      <Table
        name="Configuration"
        columns={COLUMNS}
        loaded={{ ...loaded, data: rows }}
        keyOf={({ key }) => key}
        whenEmpty={<Empty name="None like that" />}
      />
      <p class="muted small">
        It is changed in the file. Most keys take a restart; <code>systemctl reload</code> reads log level and
        certificates.
      </p>
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  { name: 'Key', show: ({ key }) => <span class="mono break">{key}</span> },
  { name: 'Value', show: ({ value }) => <span class="mono break">{value}</span> },
  { name: 'From', show: ({ source }) => <span class="muted">{source}</span> },
]
