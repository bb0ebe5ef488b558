import { Empty, Head } from './pieces.tsx'
import { roleNeeded } from './rights.ts'
import { organization } from './state.ts'

/** Everybody with at least a role. */
const WHO: Record<string, string> = {
  support: 'support, developers, admins and owners',
  developer: 'developers, admins and owners',
  admin: 'admins and owners',
  owner: 'owners',
  operator: 'operators',
}

/** In place of a page that the user's role does not allow. `operation` is the one that the page needs. */
export function NeedsRole({ name, operation }: { name: string; operation: string }) {
  const needed = roleNeeded(operation)
  const { role, name: organizationName } = organization.value ?? {}
  return (
    <>
      <Head name={name} />
      <Empty name={`Only ${WHO[needed ?? ''] ?? 'others'} can open this page`}>
        <p>
          Your role in {organizationName} is {role}.{' '}
          {needed === 'operator' ? 'Operators run this server.' : 'An owner of the organization can change it.'}
        </p>
      </Empty>
    </>
  )
}
