import { get, type Json, remove } from '../../kit/api.ts'
import { browserOf } from '../../kit/browser-name.ts'
import { useLoad } from '../../kit/load.ts'
import { Empty, Time } from '../../kit/pieces.tsx'
import { type Column, Table } from '../../kit/table.tsx'
import { attempt } from '../../kit/toast.tsx'

const COLUMNS: Column<Json>[] = [
  {
    name: 'Browser',
    phone: 'top-left',
    show: ({ user_agent, is_current }) => (
      <>
        {browserOf(user_agent)} {is_current && <strong>(this browser)</strong>}
      </>
    ),
  },
  { name: 'IP address', width: '20%', phone: 'sub', show: ({ ip_address }) => ip_address ?? '' },
  { name: 'Signed in', width: '120px', show: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Last seen', width: '120px', phone: 'last', show: ({ last_seen_at }) => <Time at={last_seen_at} /> },
]

/** The user's own sessions. */
export function Sessions() {
  const loaded = useLoad<Json[]>(async (signal) => (await get('/session/all', {}, signal)).data, [])
  const end = async () => {
    if (await attempt(() => remove('/session/all'), 'Signed out everywhere else')) loaded.reload()
  }
  return (
    <section class="stack">
      <div class="row apart">
        <h2>Your sessions</h2>
        <button type="button" onClick={end} disabled={(loaded.data?.length ?? 0) < 2}>
          Sign out everywhere else
        </button>
      </div>
      <Table
        name="Your sessions"
        columns={COLUMNS}
        loaded={loaded}
        keyOf={({ id }) => id}
        whenEmpty={<Empty name="No sessions" />}
      />
    </section>
  )
}
