/** What a destination gets at most. */
export interface DestinationTerms {
  maxConnections: number
  maxMailsPerConnection: number
  /** Null = no limit. */
  maxMailsPerMinute: number | null
}

/** What the config says of a destination; 0 = nothing. */
export type ConfiguredTerms = { readonly [Name in keyof DestinationTerms]: number }

/** Name of a destination → its terms: those of the config above those known of the provider above `maxPerDestination`. */
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

/** Many servers count, and few mind this many. */
const MAILS_PER_CONNECTION = 500

/** Where providers publish numbers, these; elsewhere what careful senders keep to. None publishes mails a minute for a
 *  sender it knows: that goes by reputation, and is told by 421 and 4.7.z.
 *  - comcast.net: 25 connections at once from an address (postmaster.comcast.net, "Watch the sending limits").
 *  - outlook.com (also hotmail, live, msn and Exchange Online): never more than 500 connections without arrangement
 *    (sendersupport.olc.protection.outlook.com, policies); new senders are slowed far below that.
 *  - yahoodns.net (Yahoo, AOL, Verizon): 20 mails a connection, then it is closed without a word
 *    (help.yahoo.com/kb/SLN3433.html); connections "with respect", no number.
 *  - google.com (Gmail, Workspace) and icloud.com publish none; both answer 421 4.7.z to more than they like.
 *  - orange.fr (also wanadoo.fr): none published; OFR004_104 "too many connections" is seen from the third on. */
const PROVIDERS: Readonly<Record<string, Partial<DestinationTerms>>> = {
  'google.com': { maxConnections: 20, maxMailsPerConnection: 100 },
  'outlook.com': { maxConnections: 20, maxMailsPerConnection: 100 },
  'yahoodns.net': { maxConnections: 10, maxMailsPerConnection: 20 },
  'icloud.com': { maxConnections: 10, maxMailsPerConnection: 50 },
  'comcast.net': { maxConnections: 20, maxMailsPerConnection: 100 },
  'orange.fr': { maxConnections: 2, maxMailsPerConnection: 100 },
}
