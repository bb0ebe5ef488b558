import { type Json, loadSession, remove } from '../../kit/api.ts'
import { browserOf } from '../../kit/browser-name.ts'
import { usePages } from '../../kit/load.ts'
import { Empty, Time } from '../../kit/pieces.tsx'
import { session } from '../../kit/state.ts'
import { type Column, Pager, Table } from '../../kit/table.tsx'
import { attempt } from '../../kit/toast.tsx'

/** The sessions of all users. */
export function Sessions() {
  const pages = usePages('/v1/sessions', {})
  const own = session.value?.session.id
  const end = async ({ id }: Json) => {
    if (!(await attempt(() => remove(`/v1/sessions/${id}`), 'Session ended'))) return
    if (id === own) await loadSession()
    else pages.reload()
  }
  const columns: Column<Json>[] = [
    {
      name: 'Browser',
      phone: 'top-left',
      show: ({ id, user_agent }) => (
        <>
          {browserOf(user_agent)} {id === own && <strong>(this browser)</strong>}
        </>
      ),
    },
    { name: 'IP address', width: '18%', phone: 'sub', show: ({ ip_address }) => ip_address ?? '' },
    { name: 'Signed in', width: '120px', show: ({ created_at }) => <Time at={created_at} /> },
    { name: 'Last seen', width: '120px', phone: 'last', show: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    {
      name: '',
      width: '128px',
      phone: 'end',
      show: (row) => (
        <button type="button" class="tiny" onClick={() => end(row)}>
          End session<span class="hidden"> from {row.ip_address}</span>
        </button>
      ),
    },
  ]
  return (
    <>
      <Table
        name="Sessions"
        columns={columns}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={<Empty name="No sessions" />}
      />
      <Pager pages={pages} />
    </>
  )
}
