import type { Config } from '../config/load.ts'
import { createAddressGuard } from '../net/ip.ts'
import { createSurvey, type Survey, type SurveyDeps } from './publication.ts'

/** The survey of DNS servers before DKIM keys sign that this server publishes; undefined if it publishes none. */
export function surveyOf(
  { dns, dkim, delivery }: Config,
  deps: Pick<SurveyDeps, 'resolver' | 'clock' | 'random' | 'timeoutMs'>,
): Survey | undefined {
  if (dns.zone === null && dns.providerZones.length === 0) return undefined
  const mayAsk = delivery.allowPrivateDestinations ? () => true : createAddressGuard([])
  return createSurvey({ ...deps, publicResolvers: dkim.resolvers, mayAsk })
}
