/** Maximum limits of a destination. */
export interface DestinationTerms {
  maxConnections: number
  maxMailsPerConnection: number
  /** Null = no limit. */
  maxMailsPerMinute: number | null
}

/** Limits of a destination in the config; 0 = not set. */
export type ConfiguredTerms = { readonly [Name in keyof DestinationTerms]: number }

/** Name of a destination → its terms. The config takes precedence over known provider limits, which take precedence
 *  over `maxPerDestination`. */
export function createTermsOf(
  configured: Readonly<Record<string, ConfiguredTerms>>,
  maxPerDestination: number,
): (destination: string) => DestinationTerms {
  return (destination) => {
    const own = Object.hasOwn(configured, destination) ? configured[destination] : undefined
    const known = Object.hasOwn(PROVIDERS, destination) ? PROVIDERS[destination] : undefined
    return {
      maxConnections: own?.maxConnections || Math.min(known?.maxConnections ?? maxPerDestination, maxPerDestination),
      maxMailsPerConnection: own?.maxMailsPerConnection || (known?.maxMailsPerConnection ?? MAILS_PER_CONNECTION),
      maxMailsPerMinute: own?.maxMailsPerMinute || null,
    }
  }
}

/** Many servers count mails per connection; few limit them below this. */
const MAILS_PER_CONNECTION = 500

/** Published limits of providers, elsewhere what careful senders keep to. None publishes a number of mails per minute
 *  for known senders: it depends on reputation and is signalled by 421 and 4.7.z.
 *  - comcast.net: 25 concurrent connections per address (postmaster.comcast.net, "Watch the sending limits").
 *  - outlook.com (also hotmail, live, msn and Exchange Online): at most 500 connections without agreement
 *    (sendersupport.olc.protection.outlook.com, policies); new senders get far fewer.
 *  - yahoodns.net (Yahoo, AOL, Verizon): 20 mails per connection, then it is closed without a reply
 *    (help.yahoo.com/kb/SLN3433.html); no number of connections.
 *  - google.com (Gmail, Workspace) and icloud.com publish none; both answer 421 4.7.z above their limits.
 *  - orange.fr (also wanadoo.fr): none published; OFR004_104 "too many connections" occurs from the third on. */
const PROVIDERS: Readonly<Record<string, Partial<DestinationTerms>>> = {
  'google.com': { maxConnections: 20, maxMailsPerConnection: 100 },
  'outlook.com': { maxConnections: 20, maxMailsPerConnection: 100 },
  'yahoodns.net': { maxConnections: 10, maxMailsPerConnection: 20 },
  'icloud.com': { maxConnections: 10, maxMailsPerConnection: 50 },
  'comcast.net': { maxConnections: 20, maxMailsPerConnection: 100 },
  'orange.fr': { maxConnections: 2, maxMailsPerConnection: 100 },
}
