import type { Config } from '../../config/load.ts'
import { dkimRecordValue } from '../../mail/dkim.ts'
import type { DkimKeyRecord, Domain } from '../../model/domain.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { showsKey } from '../dkim-record.ts'
import { applySteps } from './apply.ts'
import { CredentialsFault, credentialsOf } from './credentials.ts'
import { LexiconFault, openProviderZone, type ProviderRecord, type ProviderZone } from './lexicon.ts'
import { providerNamed } from './providers.ts'
import { stepOf } from './step.ts'
import { zoneOf } from './zone-of.ts'

/** DKIM keys of a domain that its zone at the provider lacks, and those that it should no longer have. */
export interface KeyChanges {
  added: readonly DkimKeyRecord[]
  removed: readonly DkimKeyRecord[]
}

/** Makes the changes at the provider of a domain → null, or why it failed, without credentials. */
export type ChangeKeys = (domain: Domain, changes: KeyChanges) => Promise<string | null>

/** Creates the changes by lexicon, in a zone that the config lists and DNS has. `env` may have the credentials. */
export function createChangeKeys(
  { dns }: Pick<Config, 'dns'>,
  resolver: Pick<Resolver, 'ns'>,
  env: Record<string, string | undefined>,
): ChangeKeys {
  return async (domain, changes) => {
    const provider = providerNamed(dns.provider)
    const found = await zoneOf(domain.name, resolver)
    if (provider === null || found === null) return `DNS did not answer with the zone of ${domain.name}`
    if (!dns.providerZones.includes(found.zone)) return `${found.zone} is a zone of its own, not in dns.provider_zones`
    try {
      const credentials = credentialsOf(provider, dns.credentialsFile ?? '', env)
      const zone = openProviderZone({ zone: found.zone, provider, credentials })
      return await changeKeys(domain, changes, zone).finally(zone.close)
    } catch (thrown) {
      if (thrown instanceof LexiconFault || thrown instanceof CredentialsFault) return thrown.message
      throw thrown
    }
  }
}

/** Adds and removes nothing unless the zone itself has the keys that sign now. Who can write there decided that the domain is
 *  in it; a name below the zone that is delegated to somebody else is not. Removes only values with a removed key. Twice is
 *  harmless. Rejects with LexiconFault. */
async function changeKeys(domain: Domain, { added, removed }: KeyChanges, zone: ProviderZone): Promise<string | null> {
  for (const key of domain.dkim.filter(({ state }) => state === 'active')) {
    const { name, value } = recordOf(domain, key)
    if (!showsKey(await zone.list(name, 'TXT'), value)) return `the provider does not have the present key ${name}`
  }
  const steps = added.map((key) => stepOf(recordOf(domain, key), 'dkim')('create'))
  const failed = (await applySteps(steps, zone)).find(({ fault }) => fault !== null)
  if (failed !== undefined) return `${failed.step.record.name}: ${failed.fault}`
  for (const key of removed) {
    const record = recordOf(domain, key)
    const ofKey = async () => (await zone.list(record.name, 'TXT')).filter((text) => showsKey([text], record.value))
    const present = await ofKey()
    for (const value of present) await zone.remove({ ...record, value })
    if (present.length > 0 && (await ofKey()).length > 0) return `${record.name}: the provider still has the old record`
  }
  return null
}

const recordOf = ({ name }: Domain, { selector, algorithm, publicKey }: DkimKeyRecord): ProviderRecord => ({
  type: 'TXT',
  name: `${selector}._domainkey.${name}`,
  value: dkimRecordValue(algorithm, publicKey),
  priority: null,
})
