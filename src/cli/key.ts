import type { ApiKey, CreatedApiKey } from '../client/types.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { requireDomain } from './domain.ts'
import { CommandFailure } from './failure.ts'
import { print, printJson, table } from './print.ts'

interface Options {
  config: string
  json?: true
}

/** Creates an API key and prints it with its value, which cannot be shown again. Throws CommandFailure for an unknown
 *  domain and Refusal for invalid options. */
export async function createKey(
  options: Options & {
    domain: string
    permission: string[]
    mode: string
    name: string
    expires?: string
    network?: string[]
  },
): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: domain_id, organizationId } = await requireDomain(options.domain, store)
    const { name, mode, permission: permissions, expires: expires_at, network: allowed_networks } = options
    const body = { name, domain_id, permissions, mode, expires_at, allowed_networks }
    const key = await operator.run('api_keys_create', { organizationId, body })
    if (options.json) return printJson(key)
    print(`${key.key}\n\nStore this key now: it is shown only once. ${describe(key)}`)
  })
}

/** Prints all API keys, or those of one domain, without their values; "no keys yet" without keys. Throws CommandFailure
 *  for an unknown domain. */
export async function listKeys(options: Options & { domain?: string }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const domain = options.domain === undefined ? null : await requireDomain(options.domain, store)
    const owners = domain === null ? (await store.organizations.list()).map((each) => each.id) : [domain.organizationId]
    const lists = await Promise.all(owners.map((id) => operator.listAll('api_keys_list', id)))
    const keys = lists.flat().filter((key) => domain === null || key.domain_id === domain.id)
    if (options.json) return printJson({ data: keys })
    const rows = keys.map((key) => [
      String(key.id),
      `${key.prefix}…`,
      String(key.domain),
      key.permissions.join(','),
      String(key.mode),
      networksOf(key),
      stateOf(key),
      String(key.name),
    ])
    print(table(['id', 'key', 'domain', 'permissions', 'mode', 'networks', 'state', 'name'], rows) || 'no keys yet')
  })
}

/** Revokes an API key; revoking it twice is safe. Throws CommandFailure for an unknown id. */
export async function revokeKey(id: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const organizationId = await ownerOf(id, store)
    const answer = await operator.run('api_keys_revoke', { organizationId, params: { key_id: id } })
    if (options.json) printJson(answer)
    else print(`${id} is revoked`)
  })
}

async function ownerOf(id: string, store: Store): Promise<string> {
  const key = await store.apiKeys.get(id)
  if (key !== null) return key.organizationId
  throw new CommandFailure(`key: no key ${id}. List keys with: postrider key list`)
}

function describe(key: CreatedApiKey): string {
  const until = key.expires_at === null ? '' : `, expires ${key.expires_at}`
  const from = key.allowed_networks === null ? '' : `, from ${key.allowed_networks.join(', ')}`
  return `${key.id}: ${key.permissions.join(', ')} for ${key.domain}${from}${until}.`
}

function networksOf(key: ApiKey): string {
  return key.allowed_networks === null ? 'any' : key.allowed_networks.join(',')
}

function stateOf(key: ApiKey): string {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at === null ? 'valid' : `expires ${key.expires_at}`
}
