/** The providers whose reputation systems a new sending address must win over one by one, and everyone else. */
export const DESTINATION_GROUPS = ['google', 'microsoft', 'yahoo', 'apple', 'others'] as const
export type DestinationGroup = (typeof DESTINATION_GROUPS)[number]

/** Destinations (sending/outbound/schedule/destination.ts: the registrable domain of the MX host) of each group. */
const MEMBERS: Readonly<Record<string, DestinationGroup>> = {
  'google.com': 'google', // Gmail and Google Workspace
  'outlook.com': 'microsoft', // Outlook.com, Hotmail, Live, MSN and Exchange Online
  'office365.us': 'microsoft', // Exchange Online for governments
  'yahoodns.net': 'yahoo', // Yahoo, AOL, Verizon
  'icloud.com': 'apple', // iCloud, me.com, mac.com and own domains there
}

/** Destination → its group. */
export const groupOf = (destination: string): DestinationGroup =>
  Object.hasOwn(MEMBERS, destination) ? MEMBERS[destination]! : 'others'
