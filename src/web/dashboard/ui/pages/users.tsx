import { useState } from 'preact/hooks'
import type { Json } from '../kit/api.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head, Segments, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { place, setQuery } from '../kit/router.ts'
import { organization, session } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { lacksProfile, ProfileDialog } from '../profile.tsx'
import { AddOperator, ChangeRole, InviteUser, LinkDialog, type ShownLink } from './users/dialogs.tsx'
import { Invitations } from './users/invitations.tsx'
import { UserMenu } from './users/menu.tsx'

type OpenDialog = { kind: 'role'; user: Json } | { kind: 'link'; link: ShownLink }

/** Users of the selected organization with their roles, and open invitations. Operators can also show all users. */
export default function UsersPage() {
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [round, setRound] = useState(0)
  const { scope, invite } = place.value.query
  const { id: organizationId, name } = organization.value ?? {}
  const isForAll = session.value?.user.is_operator === true && (scope === 'all' || organizationId === undefined)
  const pages = usePages('/v1/users', {}, { isForAll })
  const isAdding = Boolean(invite) && dialog === null
  const close = () => {
    setDialog(null)
    setQuery({ invite: '' })
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
      width: '24%',
      phone: 'top-left',
      show: ({ id, name }) => (
        <>
          <span class="strong">{name}</span>
          {id === session.value?.user.id && <span class="muted"> (you)</span>}
        </>
      ),
      by: ({ name }) => name,
    },
    {
      name: 'Email',
      phone: 'sub',
      show: ({ email }) => email ?? <span class="muted">Not set</span>,
      by: ({ email }) => email ?? '',
    },
    { name: 'Role', width: '24%', phone: 'last', show: (user) => <Roles of={user} isForAll={isForAll} /> },
    { name: 'Last seen', width: '120px', show: ({ last_seen_at }) => <Time at={last_seen_at} /> },
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
      <Head name="Users" about={isForAll ? 'All people who can sign in.' : `People who can sign in to ${name}.`}>
        {session.value?.user.is_operator && organizationId !== undefined && (
          <Segments
            name="Users"
            options={[
              ['', name ?? ''],
              ['all', 'All users'],
            ]}
            chosen={isForAll ? 'all' : ''}
            onChoose={(scope) => setQuery({ scope })}
          />
        )}
        {isForAll ? (
          <button type="button" class="primary" onClick={() => setQuery({ invite: 'yes' })}>
            Add operator
          </button>
        ) : (
          may('invitations_create') && (
            <button type="button" class="primary" onClick={() => setQuery({ invite: 'yes' })}>
              Invite user
            </button>
          )
        )}
      </Head>
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
