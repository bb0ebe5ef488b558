import { Head, Segments } from '../kit/pieces.tsx'
import { place, setQuery } from '../kit/router.ts'
import { organization, session } from '../kit/state.ts'
import { InviteButton, Members } from './users/members.tsx'

/** Users of the selected organization. Operators can also show all users. */
export default function UsersPage() {
  const { id: organizationId, name } = organization.value ?? {}
  const isOperator = session.value?.user.is_operator === true
  const isForAll = isOperator && (place.value.query.scope === 'all' || organizationId === undefined)
  return (
    <div class="stack">
      <Head name="Users" about={isForAll ? 'All people who can sign in.' : `People who can sign in to ${name}.`}>
        {isOperator && organizationId !== undefined && (
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
        <InviteButton isForAll={isForAll} />
      </Head>
      <Members isForAll={isForAll} />
    </div>
  )
}
