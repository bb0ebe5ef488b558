import type { Json } from '../kit/api.ts'
import { when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'

/** Mails with gaps that programs fill. */
export default function TemplatesPage() {
  const pages = usePages('/v1/templates', {})
  const create = (
    <a class="button primary" href={href('/templates/new')}>
      Create template
    </a>
  )
  return (
    <>
      <Head
        name="Templates"
        about="Mails with gaps. A program names one and gives the variables; its texts can change without the program."
      >
        {create}
      </Head>
      <Table
        name="Templates"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/templates/${id}`)}
        whenEmpty={
          <Empty name="No template yet">
            <p>
              Write one here, see at once what it becomes, and send with <code>template_id</code> in the place of{' '}
              <code>html</code>.
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
  { name: 'Subject', show: ({ subject }) => subject ?? <span class="muted">each message its own</span> },
  { name: 'Variables', show: ({ variables }) => (variables.length === 0 ? 'none' : variables.join(', ')) },
  { name: 'Version', show: ({ version }) => version, by: ({ version }) => version, isNumber: true },
  { name: 'Changed', show: ({ updated_at }) => when(updated_at), by: ({ updated_at }) => updated_at, isShort: true },
]
