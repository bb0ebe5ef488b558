import { fail, pass, skip, type Verdict } from './check.ts'
import type { CheckDeps } from './deps.ts'

/** Checks that the OpenID Connect provider answers, and names the redirect URI to register there. */
export async function checkSingleSignOn({ provider }: Pick<CheckDeps, 'provider'>): Promise<Verdict> {
  if (provider === null) return skip('none configured')
  const { issuer, redirectUri, look } = provider
  const problem = await look()
  if (problem === null) return pass(`${issuer} answers; its redirect URI is ${redirectUri}`)
  return fail(
    `${issuer}: ${problem}`,
    `Check oidc.issuer, and oidc.ca_file for a private authority. Register ${redirectUri} at the provider.`,
  )
}
