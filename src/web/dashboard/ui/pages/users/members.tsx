import { useState } from 'preact/hooks'
import type { Json } from '../../kit/api.ts'
import { usePages } from '../../kit/load.ts'
import { Empty, Time } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { amendQuery, place } from '../../kit/router.ts'
import { session } from '../../kit/state.ts'
import { Chip } from '../../kit/status.tsx'
import { type Column, Pager, Table } from '../../kit/table.tsx'
import { lacksProfile, ProfileDialog } from '../../profile.tsx'
import { AddOperator, ChangeRole, InviteUser, LinkDialog, type ShownLink } from './dialogs.tsx'
import { Invitations } from './invitations.tsx'
import { UserMenu } from './menu.tsx'

type OpenDialog = { kind: 'role'; user: Json } | { kind: 'link'; link: ShownLink }

/** The button that opens the dialog of Members; nothing for users who may not invite. */
export function InviteButton({ isForAll }: { isForAll: boolean }) {
  if (!isForAll && !may('invitations_create')) return null
  return (
    <button type="button" class="primary" onClick={() => amendQuery({ invite: 'yes' })}>
      {isForAll ? 'Add operator' : 'Invite user'}
    </button>
  )
}

/** Users of the selected organization with their roles, and open invitations. `isForAll`: all users of the server. */
export function Members({ isForAll }: { isForAll: boolean }) {
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [round, setRound] = useState(0)
  const pages = usePages('/v1/users', {}, { isForAll })
  const isAdding = Boolean(place.value.query.invite) && dialog === null
  const close = () => {
    setDialog(null)
    amendQuery({ invite: '' })
  }
  const finish = () => {
    close()
    pages.reload()
  }
  const showLink = (link: ShownLink) => {
    finish()
    setRound(round + 1)
    setDialog({ kind: 'link', link })
  }
  const columns: Column<Json>[] = [
    {
      name: 'Name',
      phone: 'top-left',
      show: ({ id, name, email }) => (
        <>
          <bdi class="strong">{name || email || 'No name yet'}</bdi>
          {id === session.value?.user.id && <span class="muted"> (you)</span>}
          {name !== '' && <div class="ellipsis small muted">{email ?? 'No email address'}</div>}
        </>
      ),
      by: ({ name, email }) => name || (email ?? ''),
    },
    {
      name: 'Sign-in',
      width: '132px',
      phone: 'sub',
      show: ({ two_step, passkeys }) => <Factors isTwoStep={two_step} passkeys={passkeys} />,
    },
    { name: 'Role', width: '22%', phone: 'last', show: (user) => <Roles of={user} isForAll={isForAll} /> },
    { name: 'Last seen', width: '116px', show: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    {
      name: '',
      width: '60px',
      phone: 'end',
      show: (user) => (
        <UserMenu
          user={user}
          isForAll={isForAll}
          onChangeRole={() => setDialog({ kind: 'role', user })}
          onLink={showLink}
          onDone={pages.reload}
        />
      ),
    },
  ]
  return (
    <div class="stack">
      <div>
        <Table
          name="Users"
          columns={columns}
          loaded={pages}
          keyOf={({ id }) => id}
          whenEmpty={
            <Empty name="No users yet">
              <p>Operators of this server have access without a role. Invite the people of this organization.</p>
            </Empty>
          }
        />
        <Pager pages={pages} />
      </div>
      {!isForAll && <Invitations key={round} onLink={showLink} />}
      {isAdding && lacksProfile() && <ProfileDialog onClose={() => lacksProfile() && close()} />}
      {isAdding && !lacksProfile() && isForAll && <AddOperator onClose={close} onLink={showLink} />}
      {isAdding && !lacksProfile() && !isForAll && <InviteUser onClose={close} onLink={showLink} />}
      {dialog?.kind === 'role' && <ChangeRole of={dialog.user} onClose={close} onSaved={finish} />}
      {dialog?.kind === 'link' && <LinkDialog link={dialog.link} onClose={close} />}
    </div>
  )
}

/** What a user signs in with besides a password. */
function Factors({ isTwoStep, passkeys }: { isTwoStep: boolean; passkeys: number }) {
  if (isTwoStep) return <Chip word="2FA on" tone="good" />
  if (passkeys > 0) return <Chip word="Passkey" tone="good" />
  return <span class="muted">Password only</span>
}

function Roles({ of, isForAll }: { of: Json; isForAll: boolean }) {
  const { awaiting, email, email_verified_at, disabled_at } = of
  const names = new Map(session.value?.organizations.map(({ id, name }) => [id, name]))
  const textsOf = ({ is_operator, roles }: Json): string[] => [
    ...(is_operator ? ['operator'] : []),
    ...roles.map(({ organization_id, role }: Json) =>
      isForAll ? `${role} of ${names.get(organization_id) ?? organization_id}` : role,
    ),
  ]
  return (
    <span class="row">
      <span class="ellipsis capital">{textsOf(of).join(', ')}</span>
      {email !== null && email_verified_at === null && <Chip word="not verified" tone="quiet" />}
      {textsOf(awaiting).map((text) => (
        <Chip key={text} word={`${text} when verified`} tone="quiet" />
      ))}
      {disabled_at !== null && <Chip word="disabled" tone="quiet" />}
    </span>
  )
}
