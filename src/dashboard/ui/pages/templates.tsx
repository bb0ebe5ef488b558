import type { Json } from '../kit/api.ts'
import { when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'

/** Templates: reusable emails with variables. */
export default function TemplatesPage() {
  const pages = usePages('/v1/templates', {})
  const create = (
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
  { name: 'Name', show: ({ id, name }) => <a href={href(`/templates/${id}`)}>{name}</a>, by: ({ name }) => name },
  { name: 'Alias', show: ({ alias }) => alias && <code>{alias}</code>, by: ({ alias }) => alias ?? '' },
  { name: 'Subject', show: ({ subject }) => subject ?? <span class="muted">Set per message</span> },
  { name: 'Variables', show: ({ variables }) => (variables.length === 0 ? 'None' : variables.join(', ')) },
  { name: 'Version', show: ({ version }) => version, by: ({ version }) => version, isNumber: true },
  { name: 'Updated', show: ({ updated_at }) => when(updated_at), by: ({ updated_at }) => updated_at, isShort: true },
]
