import type { Config } from '../config/load.ts'
import { providerNamed } from '../domains/provider/providers.ts'
import { withStore } from './cli-context.ts'
import { applyTo, credentialsFrom, requireProgram } from './dns-apply.ts'
import { type ApplyResult, report, resultJson } from './dns-apply-report.ts'
import { CommandFailure, toFailure, usageFault } from './failure.ts'
import { print, printError, sanitize } from './print.ts'

/** `--dns` of `init`: the records of the first domain, by the same steps as `dns apply`. */

/** Checks before `init` writes anything: the provider's name, the program and the credentials. Throws CommandFailure. */
export function requireDnsProvider(name: string, config: Config): void {
  const provider = providerNamed(name)
  if (provider === null) throw usageFault('dns: expected the name of a provider of lexicon, such as cloudflare')
  requireProgram()
  credentialsFrom(config, provider)
}

/** The result, or why nothing could be planned or nothing was agreed to. */
export type FirstDns = { result: ApplyResult; fault: null } | { result: null; fault: string }

/** Publishes the records of the domain that `init` has created. What fails here leaves the domain as it is, because
 *  `dns apply` can be repeated. Without a terminal, the option itself is the consent. */
export async function publishFirst(
  { name, organizationId }: { name: string; organizationId: string },
  config: Config,
  options: { config: string; dns: string; json?: true; isAsking: boolean },
): Promise<FirstDns> {
  const { dns: provider, json, isAsking } = options
  const applied = async () =>
    withStore(
      config,
      async (context) => {
        const domain = await context.store.domains.findOf(organizationId, name)
        if (domain === null) throw new CommandFailure(`${name} was removed meanwhile`)
        return applyTo(domain, context, {
          config: options.config,
          provider,
          timeout: WAIT_SECONDS,
          ...(isAsking ? {} : { yes: true }),
          ...(json && { json }),
        })
      },
      { asksAuthorities: true },
    )
  try {
    return { result: await applied(), fault: null }
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (failure === null) throw thrown
    return { result: null, fault: failure.message }
  }
}

/** Shorter than that of `dns apply`: the next steps wait for the rest. */
const WAIT_SECONDS = 120

/** Prints the result below the report of `init`. Returns whether all required records are correct. */
export function printFirstDns({ result, fault }: FirstDns, domain: string): boolean {
  if (result !== null) report(result, {})
  else printError(sanitize(fault))
  const ok = result?.ok === true
  if (!ok) print(`\nThe domain is set up. Publish the rest of its records with: postrider dns apply ${domain}`)
  return ok
}

/** The same for the JSON of `init`. */
export const firstDnsJson = ({ result, fault }: FirstDns) =>
  result === null ? { ok: false, faults: [fault] } : resultJson(result)
