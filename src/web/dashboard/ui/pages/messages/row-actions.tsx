import { type Json, post, selected } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { copyText } from '../../kit/pieces.tsx'
import { href, setQuery } from '../../kit/router.ts'
import type { Bulk } from '../../kit/table.tsx'
import { toast, toastError } from '../../kit/toast.tsx'

/** Recipients of a message → the first address and the number of the others: `ann@example.com +2`. */
export function recipientsOf([first, ...others]: Json[]): string {
  return `${first?.email ?? ''}${others.length > 0 ? ` +${others.length}` : ''}`
}

/** The actions of one message. */
export function RowMenu({ message: { id, subject, status, recipients } }: { message: Json }) {
  const [first] = recipients
  return (
    <Menu name={`Actions of ${subject || '(no subject)'}`}>
      <MenuItem icon="send" href={href(`/messages/${id}`)}>
        Open
      </MenuItem>
      <MenuItem icon="file-text" href={href(`/messages/${id}`, { tab: 'content' })}>
        View content
      </MenuItem>
      <MenuItem icon="copy" onPress={() => copyText(id, 'ID')}>
        Copy ID
      </MenuItem>
      {first && (
        <MenuItem icon="search" onPress={() => setQuery({ to: first.email })}>
          Messages to this address
        </MenuItem>
      )}
      {['suppressed', 'bounced', 'partial'].includes(status) && first && (
        <MenuItem icon="ban" href={href('/suppressions', { email: first.email })}>
          View suppression
        </MenuItem>
      )}
    </Menu>
  )
}

/** Resends or cancels the selected messages, each by itself; the notice counts those that failed. */
export const BULK: Bulk<Json> = {
  nameOf: ({ subject, recipients }) => `${subject || '(no subject)'} to ${recipientsOf(recipients)}`,
  actions: [
    { name: 'Resend', run: (rows) => actOnAll(rows, 'resend', 'Resend') },
    {
      name: 'Cancel sending…',
      isDangerous: true,
      isFor: ({ status }) => ['scheduled', 'queued', 'deferred'].includes(status),
      run: (rows) => actOnAll(rows, 'cancel', 'Cancel'),
    },
  ],
}

async function actOnAll(rows: Json[], action: 'resend' | 'cancel', label: string): Promise<boolean> {
  const count = `${rows.length} ${rows.length === 1 ? 'message' : 'messages'}`
  const text =
    action === 'resend'
      ? 'Sends the same content to the same recipients as new messages. Suppressed recipients do not get it.'
      : 'Postrider will not send them to recipients who have not received them yet.'
  const isSure = await confirm({ name: `${label} ${count}?`, text, action: `${label} ${count}`, dismiss: 'Keep' })
  if (!isSure) return false
  const headers = selected()
  let failed = 0
  for (const { id, domain_id, mode } of rows) {
    const caller = { domain: domain_id, headers: { ...headers, 'x-mode': mode } }
    await post(`/v1/messages/${id}/${action}`, {}, caller).catch(() => {
      failed++
    })
  }
  const done = action === 'resend' ? 'resent' : 'cancelled'
  if (failed > 0) toastError(new Error(`${rows.length - failed} ${done}, ${failed} not possible.`))
  else toast(`${count} ${done}`)
  return true
}
