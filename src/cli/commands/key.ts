import { type Command, Option } from 'commander'
import type { ApiKey, CreatedApiKey } from '../../client/types.ts'
import { addList, addOperation } from '../operation-command.ts'
import { gather, MODES } from '../options.ts'
import * as places from '../places.ts'

/** `postrider key …`. */
export function addKeys(program: Command): void {
  const key = program.command('key').description('manage API keys')
  addOperation(key, 'create', 'api_keys_create', {
    about: 'create a key; its value is shown only once',
    place: places.domainGiven,
    placed: [new Option('--domain <name>', 'domain that the key is bound to').makeOptionMandatory()],
    body: {
      permissions: new Option('--permission <permission>', 'send, read, manage or admin; repeatable')
        .argParser(gather)
        .makeOptionMandatory(),
      mode: new Option('--mode <mode>', 'live keys send mail, test keys simulate it').choices(MODES).default('live'),
      name: new Option('--name <label>', 'label of the key').default('created at the command line'),
      expires_at: new Option('--expires <time>', 'ISO 8601 time when the key expires'),
      allowed_networks: new Option('--network <cidr>', 'allow requests from this network only; repeatable').argParser(
        gather,
      ),
    },
    text: (key) => `${key.key}\n\nStore this key now: it is shown only once. ${scopeText(key)}`,
  })
  addList(key, 'list', 'api_keys_list', {
    about: 'list keys without their values',
    place: places.domainOrOrganizations,
    placed: [new Option('--domain <name>', 'only keys of this domain')],
    keep: ({ domain_id, domain }, { body }) => [undefined, domain_id, domain].includes(body?.domain_id ?? undefined),
    columns: {
      id: 'id',
      key: ({ prefix }) => `${prefix}…`,
      domain: 'domain',
      permissions: ({ permissions }) => permissions.join(','),
      mode: 'mode',
      networks: ({ allowed_networks }) => allowed_networks?.join(',') ?? 'any',
      state: stateOf,
      name: 'name',
    },
    none: 'no keys yet',
  })
  addOperation(key, 'revoke <id>', 'api_keys_revoke', {
    about: 'revoke a key immediately',
    place: places.apiKey,
    text: (_, { operands: [id] }) => `${id} is revoked`,
  })
}

function scopeText({ id, permissions, domain, allowed_networks, expires_at }: CreatedApiKey): string {
  const until = expires_at === null ? '' : `, expires ${expires_at}`
  const from = allowed_networks === null ? '' : `, from ${allowed_networks.join(', ')}`
  return `${id}: ${permissions.join(', ')} for ${domain}${from}${until}.`
}

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return 'revoked'
  return expires_at === null ? 'valid' : `expires ${expires_at}`
}
