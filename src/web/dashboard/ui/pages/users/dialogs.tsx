import { type Json, patch, post } from '../../kit/api.ts'
import { CloseButton, Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { LOCALE } from '../../kit/format.ts'
import { CopyButton, Options } from '../../kit/pieces.tsx'
import { organization } from '../../kit/state.ts'
import { toast } from '../../kit/toast.tsx'

/** A link that the person who creates it passes on. */
export interface ShownLink {
  name: string
  /** Null: only an operator sees it. */
  url: string | null
  /** ISO 8601. */
  expiresAt: string
  /** Where the server sends it too. */
  email: string | null
  /** Why the server does not send it; null if it does. */
  notSent: string | null
}

/** Response to the request for a link → ShownLink. */
export const shownLink = (name: string, email: string | null, { url, expires_at, mail_reason }: Json): ShownLink => ({
  name,
  email,
  url,
  expiresAt: expires_at,
  notSent: mail_reason,
})

/** By the API's `mail_reason`. */
const NOT_SENT: Record<string, string> = {
  not_configured: 'This server sends no mail to users yet. The operator sets users.mail_from.',
  single_sign_on_only: 'People sign in with single sign-on only, so the link is refused.',
  domain_not_verified: 'The domain of users.mail_from is not verified.',
  sending_paused: 'An alert paused sending from the domain of users.mail_from.',
  no_address: 'The user has no email address.',
  received_here: 'This server receives mail for the address, so that members of an organization could read the link.',
  suppressed: 'Earlier mail to this address bounced. A link that an operator creates is sent again.',
  limit_reached: 'The limit is three invitations a day to an address, and fifty for an organization.',
}

interface LinkForm {
  onClose: () => void
  onLink: (link: ShownLink) => void
}

const ROLES = [
  ['viewer', 'Viewer: read everything except keys, webhooks and routes'],
  ['support', 'Support: also resend and cancel messages, manage suppressions'],
  ['developer', 'Developer: also manage domains, keys, templates, webhooks and routes'],
  ['admin', 'Admin: also delete domains'],
  ['owner', 'Owner: also manage users and the plan'],
] as const

function RoleField({ value }: { value: string }) {
  return (
    <Field
      name="role"
      label="Role"
      hint={
        <a href="/manual/users" target="_blank" rel="noreferrer">
          What each role may do
        </a>
      }
    >
      {(control) => (
        <select {...control} required>
          <Options of={ROLES} chosen={value} />
        </select>
      )}
    </Field>
  )
}

/** Invites a person, who may have been invited before → the link to show. Rejects with ApiError. */
export async function invite(email: string, role: string): Promise<ShownLink> {
  return shownLink(`Invitation for ${email}`, email, await post('/v1/invitations', { email, role }))
}

/** Dialog that invites a user to the selected organization. */
export function InviteUser({ onClose, onLink }: LinkForm) {
  return (
    <Dialog name={`Invite a user to ${organization.value?.name}`} onClose={onClose}>
      <Form action="Invite" onCancel={onClose} onSubmit={async ({ email, role }) => onLink(await invite(email, role))}>
        <Field name="email" label="Email">
          {(control) => <input {...control} required type="text" inputMode="email" autoComplete="off" />}
        </Field>
        <RoleField value="viewer" />
      </Form>
    </Dialog>
  )
}

/** Dialog that creates an operator of the server. */
export function AddOperator({ onClose, onLink }: LinkForm) {
  return (
    <Dialog name="Add an operator" onClose={onClose}>
      <p class="muted">Operators have all rights in all organizations, and manage this server.</p>
      <Form
        action="Add operator"
        onCancel={onClose}
        onSubmit={async (values) => {
          const { id, name, email } = await post('/v1/users', { ...values, is_operator: true }, { isForAll: true })
          const link = await post(`/v1/users/${id}/reset`, {}, { isForAll: true })
          onLink(shownLink(`Password link for ${name}`, email, link))
        }}
      >
        <Field name="name" label="Name">
          {(control) => <input {...control} required maxLength={100} autoComplete="off" />}
        </Field>
        <Field name="email" label="Email">
          {(control) => <input {...control} required type="text" inputMode="email" autoComplete="off" />}
        </Field>
      </Form>
    </Dialog>
  )
}

/** Dialog for the role of a user in the selected organization. */
export function ChangeRole({ of: user, onClose, onSaved }: { of: Json; onClose: () => void; onSaved: () => void }) {
  const present = user.roles.find((each: Json) => each.organization_id === organization.value?.id)?.role
  return (
    <Dialog name={`Change the role of ${user.name}`} onClose={onClose}>
      <Form
        action="Save"
        onCancel={onClose}
        onSubmit={async ({ role }) => {
          await patch(`/v1/users/${user.id}`, { role })
          toast(`${user.name} is now ${role}`)
          onSaved()
        }}
      >
        <RoleField value={present} />
      </Form>
    </Dialog>
  )
}

/** ISO 8601 → `5 December`. */
const dayOf = (iso: string) => new Date(iso).toLocaleDateString(LOCALE, { day: 'numeric', month: 'long' })

/** Dialog with a link, which the server shows only once, or with what becomes of it. */
export function LinkDialog({ link, onClose }: { link: ShownLink; onClose: () => void }) {
  const { name, url, expiresAt, email, notSent } = link
  return (
    <Dialog name={name} onClose={onClose}>
      {notSent === null ? (
        <p>
          A mail with a link is on its way to <b class="break">{email}</b>. That link also verifies the address.
          {url !== null && ' If the mail does not arrive, pass this one on.'}
        </p>
      ) : (
        <p>
          No mail was sent. {NOT_SENT[notSent]}{' '}
          {url === null
            ? 'Ask an operator of this server to invite the person.'
            : 'Send this link to them privately. You won’t be able to see it again, and it does not verify the address.'}
        </p>
      )}
      {url !== null && (
        <div class="row apart">
          <code class="break grow" data-value>
            {url}
          </code>
          <CopyButton text={url} label="link" />
        </div>
      )}
      <p class="muted">The link works once and expires on {dayOf(expiresAt)}.</p>
      <CloseButton onClose={onClose} />
    </Dialog>
  )
}
