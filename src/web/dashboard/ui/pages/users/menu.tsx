import { type Json, patch, post, remove } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { may } from '../../kit/rights.ts'
import { organization, session } from '../../kit/state.ts'
import { attempt } from '../../kit/toast.tsx'
import { type ShownLink, shownLink } from './dialogs.tsx'

/** The actions of one user. `isForAll`: of the account; otherwise of the role in the selected organization. */
export function UserMenu({
  user,
  isForAll,
  onChangeRole,
  onLink,
  onDone,
}: {
  user: Json
  isForAll: boolean
  onChangeRole: () => void
  onLink: (link: ShownLink) => void
  onDone: () => void
}) {
  const { id, name, is_operator, disabled_at } = user
  const path = `/v1/users/${id}`
  const isSelf = id === session.value?.user.id
  const act = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) onDone()
  }
  const reset = () =>
    attempt(async () => {
      onLink(shownLink(`Password link for ${name}`, user.email, await post(`${path}/reset`, {}, { isForAll })))
    })
  const drop = async () => {
    const place = isForAll ? 'this server' : organization.value?.name
    let keys = 'revoke'
    const keep = (event: Event) => {
      keys = (event.currentTarget as HTMLInputElement).checked ? 'keep' : 'revoke'
    }
    const isSure = await confirm({
      name: `Remove ${name} from ${place}?`,
      text: (
        <div class="stack">
          <p>
            {isForAll
              ? 'This deletes the account with all its roles, and ends its sessions.'
              : 'An account without another role is deleted, and its sessions end.'}{' '}
            API keys that the user made stop working.
          </p>
          <label class="row">
            <input type="checkbox" onChange={keep} />
            Keep these keys for the organization
          </label>
        </div>
      ),
      action: 'Remove',
      isDangerous: true,
    })
    if (isSure) await act(() => remove(`${path}?keys=${keys}`, { isForAll }), `${name} removed`)
  }
  return (
    <Menu name={`Actions of ${name}`}>
      {!isForAll && may('users_update') && (
        <MenuItem icon="settings" onPress={onChangeRole}>
          Change role
        </MenuItem>
      )}
      {may('users_reset') && (
        <MenuItem icon="key-round" onPress={reset}>
          Create password link
        </MenuItem>
      )}
      {isForAll && !isSelf && (
        <>
          <MenuItem
            icon="user"
            onPress={() => act(() => patch(path, { is_operator: !is_operator }, { isForAll }), `${name} changed`)}
          >
            {is_operator ? 'Remove operator rights' : 'Make operator'}
          </MenuItem>
          <MenuItem
            icon="log-out"
            onPress={() => act(() => remove(`${path}/sessions`, { isForAll }), `${name} signed out`)}
          >
            Sign out everywhere
          </MenuItem>
          <MenuItem
            icon="ban"
            onPress={() => act(() => patch(path, { disabled: disabled_at === null }, { isForAll }), `${name} changed`)}
          >
            {disabled_at === null ? 'Disable' : 'Enable'}
          </MenuItem>
        </>
      )}
      {may('users_delete') && (
        <MenuItem icon="trash" isDangerous onPress={drop}>
          Remove
        </MenuItem>
      )}
    </Menu>
  )
}
