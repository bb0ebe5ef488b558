import type { Config } from '../config/load.ts'
import { createAddressGuard } from '../net/ip.ts'
import { createSurvey, type Survey, type SurveyDeps } from './publication.ts'

/** The survey of DNS servers before DKIM keys behind CNAME records sign; undefined without a zone. */
export function surveyOf(
  { dns, dkim, delivery }: Config,
  deps: Pick<SurveyDeps, 'resolver' | 'clock' | 'random' | 'timeoutMs'>,
): Survey | undefined {
  if (dns.zone === null) return undefined
  const mayAsk = delivery.allowPrivateDestinations ? () => true : createAddressGuard([])
  return createSurvey({ ...deps, publicResolvers: dkim.resolvers, mayAsk })
}
