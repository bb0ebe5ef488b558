import type { Json } from '../kit/api.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'

/** Templates: reusable emails with variables. */
export default function TemplatesPage() {
  const pages = usePages('/v1/templates', {})
  const create = may('templates_create') && (
    <a class="button primary" href={href('/templates/new')}>
      Create template
    </a>
  )
  return (
    <>
      <Head name="Templates" about="Reusable emails with variables. Send one by its alias.">
        {create}
      </Head>
      <Table
        name="Templates"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/templates/${id}`)}
        whenEmpty={
          <Empty name="No templates yet">
            <p>
              Write one with a live preview, then send with <code>template_id</code> instead of <code>html</code>.
            </p>
            {create}
          </Empty>
        }
      />
      <Pager pages={pages} />
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
