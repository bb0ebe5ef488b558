import { type Json, remove } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { ago, exact } from '../../kit/format.ts'
import { usePages } from '../../kit/load.ts'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { may } from '../../kit/rights.ts'
import { type Column, Pager, Table } from '../../kit/table.tsx'
import { attempt } from '../../kit/toast.tsx'
import { invite, type ShownLink } from './dialogs.tsx'

/** Open invitations of the selected organization; nothing without one. */
export function Invitations({ onLink }: { onLink: (link: ShownLink) => void }) {
  const pages = usePages('/v1/invitations', {}, { as: 'invitations' })
  const withdraw = async ({ id, email }: Json) => {
    const isSure = await confirm({
      name: `Withdraw the invitation of ${email}?`,
      text: 'Its link stops working.',
      action: 'Withdraw',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/invitations/${id}`), 'Invitation withdrawn'))) pages.reload()
  }
  const columns: Column<Json>[] = [
    { name: 'Email', phone: 'top-left', show: ({ email }) => <span class="strong">{email}</span> },
    { name: 'Role', width: '24%', phone: 'sub', show: ({ role }) => <span class="capital">{role}</span> },
    {
      name: 'Expires',
      width: '180px',
      phone: 'last',
      show: ({ expires_at }) => (
        <time dateTime={expires_at} title={exact(expires_at)}>
          {ago(expires_at)}
        </time>
      ),
    },
    {
      name: '',
      width: '60px',
      phone: 'end',
      show: (row) => (
        <Menu name={`Actions of the invitation of ${row.email}`}>
          {may('invitations_create') && (
            <MenuItem icon="refresh-cw" onPress={() => attempt(async () => onLink(await invite(row.email, row.role)))}>
              Resend
            </MenuItem>
          )}
          {may('invitations_delete') && (
            <MenuItem icon="trash" isDangerous onPress={() => withdraw(row)}>
              Withdraw
            </MenuItem>
          )}
        </Menu>
      ),
    },
  ]
  if (pages.data?.length === 0 && !pages.hasNewer) return null
  return (
    <section class="stack tight" aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <Table name="Invitations" columns={columns} loaded={pages} keyOf={({ id }) => id} whenEmpty={null} />
      <Pager pages={pages} />
    </section>
  )
}
