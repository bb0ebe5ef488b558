import { join } from 'node:path'
import { fileText } from '../../os/file-text.ts'

/** A hosting provider and its policy on port 25, as of 2026. The provider's pages are authoritative. */
export interface Hosting {
  name: string
  /** How to get port 25, or that the provider does not open it. */
  aboutPort25: string
}

/** How to recognize the provider: the manufacturer reported by the firmware, and the names of the machine's
 *  addresses. */
interface Signs extends Hosting {
  firmware: RegExp
  reverseName: RegExp
}

const NEVER = 'The provider never opens it. Use a smarthost.'

const KNOWN: Signs[] = [
  {
    name: 'Hetzner',
    firmware: /^hetzner/i,
    reverseName: /\.your-server\.de$/,
    aboutPort25:
      'The provider opens it on request for accounts that have paid their first invoice: in the Cloud Console under Limits.',
  },
  {
    name: 'DigitalOcean',
    firmware: /^digitalocean/i,
    reverseName: /\.digitalocean\.com$/,
    aboutPort25: 'Ports 25, 465 and 587 are blocked and seldom opened. Use a smarthost on port 2525.',
  },
  {
    name: 'Vultr',
    firmware: /^vultr/i,
    reverseName: /\.vultr(?:usercontent)?\.com$/,
    aboutPort25: 'The provider opens it after a support ticket that describes your mail.',
  },
  {
    name: 'Amazon EC2',
    firmware: /^amazon ec2/i,
    reverseName: /\.compute(?:-1)?\.amazonaws\.com$/,
    aboutPort25:
      'The provider opens it after the form “Request to remove email sending limitations”, which also sets the reverse DNS of an Elastic IP.',
  },
  { name: 'Google Cloud', firmware: /^google/i, reverseName: /\.googleusercontent\.com$/, aboutPort25: NEVER },
  {
    name: 'Azure',
    firmware: /^microsoft corporation/i,
    reverseName: /\.(?:cloudapp\.azure|cloudapp)\.(?:com|net)$/,
    aboutPort25: `${NEVER} (Enterprise Agreements are an exception.)`,
  },
  {
    name: 'OVH',
    firmware: /^ovh/i,
    reverseName: /\.(?:ovh\.(?:net|ca|us)|ip-\d+-\d+-\d+\.(?:eu|net)|kimsufi\.com)$/,
    aboutPort25:
      'It is open unless the provider’s anti-spam system closed it. Check the address in the control panel under IP.',
  },
  {
    name: 'Akamai (Linode)',
    firmware: /^(?:linode|akamai)/i,
    reverseName: /\.(?:members\.linode|ip\.linodeusercontent)\.com$/,
    aboutPort25:
      'The provider opens ports 25, 465 and 587 after a support ticket, once the A record and reverse DNS of the machine are set.',
  },
  {
    name: 'Scaleway',
    firmware: /^scaleway/i,
    reverseName: /\.(?:scw\.cloud|poneytelecom\.eu|scaleway\.com)$/,
    aboutPort25:
      'Use “Enable SMTP” in the machine’s security group; this requires a verified identity. Then stop and start the machine.',
  },
]

/** Firmware data (`/sys`) and names of the machine's addresses → its provider; null if unknown. */
export function hostingOf(sys: string, reverseNames: readonly string[]): Hosting | null {
  const made = ['sys_vendor', 'chassis_vendor', 'product_name'].map((file) =>
    fileText(join(sys, 'class/dmi/id', file)).trim(),
  )
  const isIt = ({ firmware, reverseName }: Signs) =>
    made.some((text) => firmware.test(text)) || reverseNames.some((name) => reverseName.test(name))
  return KNOWN.find(isIt) ?? null
}
