import { TEMPLATE_KINDS, type TemplateKind } from '../../../../model/template.ts'
import type { Json } from '../kit/api.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head, Tabs, Time, withCode } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place, setQuery } from '../kit/router.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { KINDS, kindOf, kindText } from './templates/kinds.ts'

/** Templates, and the layouts and partials that they use. */
export default function TemplatesPage() {
  const kind = kindOf(place.value.query.kind)
  const { noun, plural, about, whenEmpty } = KINDS[kind]
  const pages = usePages('/v1/templates', { kind })
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
        <Table
          name={plural}
          columns={kind === 'message' ? COLUMNS : PART_COLUMNS}
          loaded={pages}
          keyOf={({ id }) => id}
          link={({ id }) => href(`/templates/${id}`)}
          whenEmpty={
            <Empty name={`No ${plural.toLowerCase()} yet`}>
              <p>{withCode(whenEmpty)}</p>
              {create}
            </Empty>
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
    width: '24%',
    phone: 'top-left',
    show: ({ id, name }) => <a href={href(`/templates/${id}`)}>{name}</a>,
    by: ({ name }) => name,
  },
  { name: 'Alias', width: '18%', show: ({ alias }) => alias && <code>{alias}</code>, by: ({ alias }) => alias ?? '' },
  { name: 'Subject', phone: 'sub', show: ({ subject }) => subject ?? <span class="muted">Set per message</span> },
  {
    name: 'Variables',
    width: '16%',
    show: ({ variables }) => (variables.length === 0 ? 'None' : variables.join(', ')),
  },
  {
    name: 'Version',
    width: '84px',
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

/** Layouts and partials have no subject. */
const PART_COLUMNS: Column<Json>[] = COLUMNS.filter(({ name }) => name !== 'Subject').map((column) =>
  column.name === 'Alias' ? { ...column, phone: 'sub' } : column,
)
