import { TEMPLATE_KINDS, type TemplateKind } from '../../../../model/template.ts'
import type { Json } from '../kit/api.ts'
import { number } from '../kit/format.ts'
import { useLoad, usePages } from '../kit/load.ts'
import { Empty, Filters, Head, Tabs, Time, withCode } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { amendQuery, href, place, setQuery } from '../kit/router.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { KINDS, kindOf, kindText } from './templates/kinds.ts'
import { sentByTemplate } from './templates/sent.ts'

/** Templates, and the layouts and partials that they use. */
export default function TemplatesPage() {
  const kind = kindOf(place.value.query.kind)
  const { noun, plural, about, whenEmpty } = KINDS[kind]
  const { q } = place.value.query
  const pages = usePages('/v1/templates', { kind, q })
  const sent = useLoad((signal) => (may('stats_read') ? sentByTemplate(signal) : Promise.resolve(null)), [])
  const columns = kind === 'message' ? columnsWith(sent.data ?? null) : PART_COLUMNS
  const create = may('templates_create') && (
    <a class="button primary" href={href('/templates/new', { kind: kindText(kind) })}>
      Create {noun}
    </a>
  )
  return (
    <>
      <Head name="Templates" about={withCode(about)}>
        {create}
      </Head>
      <Tabs<TemplateKind>
        name="Kind"
        tabs={TEMPLATE_KINDS.map((kind) => [kind, KINDS[kind].plural] as const)}
        chosen={kind}
        onChoose={(kind) => setQuery({ kind: kindText(kind) })}
      >
        <Filters
          key={kind}
          search={q}
          onSearch={(q) => amendQuery({ q, page: '' })}
          placeholder={`Search ${plural.toLowerCase()}`}
        />
        <Table
          name={plural}
          columns={columns}
          loaded={pages}
          keyOf={({ id }) => id}
          link={({ id }) => href(`/templates/${id}`)}
          whenEmpty={
            q ? (
              <Empty name={`No ${plural.toLowerCase()} match`} />
            ) : (
              <Empty name={`No ${plural.toLowerCase()} yet`}>
                <p>{withCode(whenEmpty)}</p>
                {create}
              </Empty>
            )
          }
        />
        <Pager pages={pages} />
      </Tabs>
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  {
    name: 'Name',
    width: '20%',
    phone: 'top-left',
    show: ({ id, name }) => <a href={href(`/templates/${id}`)}>{name}</a>,
    by: ({ name }) => name,
  },
  { name: 'Alias', width: '16%', show: ({ alias }) => alias && <code>{alias}</code>, by: ({ alias }) => alias ?? '' },
  { name: 'Subject', phone: 'sub', show: ({ subject }) => subject ?? <span class="muted">Set per message</span> },
  {
    name: 'Variables',
    width: '13%',
    isExtra: true,
    show: ({ variables }) => (variables.length === 0 ? 'None' : variables.join(', ')),
  },
  {
    name: 'Version',
    width: '76px',
    phone: 'last',
    show: ({ version }) => version,
    by: ({ version }) => version,
    isNumber: true,
  },
  {
    name: 'Updated',
    width: '120px',
    phone: 'end',
    show: ({ updated_at }) => <Time at={updated_at} />,
    by: ({ updated_at }) => updated_at,
    isShort: true,
  },
]

/** The columns of templates, with how much each one sent; null if that is not known. */
function columnsWith(sent: Map<string, number> | null): Column<Json>[] {
  const column: Column<Json> = {
    name: 'Sent in 30 days',
    width: '132px',
    isNumber: true,
    show: ({ id }) => (sent === null ? '–' : number(sent.get(id) ?? 0)),
    by: ({ id }) => sent?.get(id) ?? 0,
  }
  return COLUMNS.flatMap((each) => (each.name === 'Version' ? [column, each] : [each]))
}

/** Layouts and partials have no subject. */
const PART_COLUMNS: Column<Json>[] = COLUMNS.filter(({ name }) => name !== 'Subject').map((column) =>
  column.name === 'Alias' ? { ...column, phone: 'sub' } : column,
)
