import type { ApiKey } from '../../src/model/api-key.ts'
import type { Random } from '../../src/os/random.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { Store } from '../../src/storage/store.ts'
import { hashKeyValue, keyPrefix, mintKeyValue } from '../../src/web/api/authentication.ts'

/** The purpose of an API key → its stored record, and its value. It has no expiry and was never used. */
export async function addKey(
  store: Pick<Store, 'apiKeys'>,
  key: Pick<ApiKey, 'id' | 'organizationId' | 'domainId' | 'createdAt'> & Partial<ApiKey>,
  random: Random = systemRandom,
): Promise<{ record: ApiKey; value: string }> {
  const mode = key.mode ?? 'live'
  const value = mintKeyValue(mode, random)
  const record: ApiKey = {
    name: 'test',
    mode,
    permissions: ['manage'],
    prefix: keyPrefix(value),
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    rotatedTo: null,
    allowedNetworks: null,
    createdBy: null,
    makerRole: null,
    ...key,
  }
  await store.apiKeys.create(record, hashKeyValue(value))
  return { record, value }
}
