import { registrableDomain } from './name.ts'

/** Services that send mail for their customers, by the domain of their servers' names. From the SPF and PTR records
 *  that these services document; November 2026. One text, because it takes less space in the program than a table. */
const KNOWN = `
  Amazon SES: amazonses.com
  Brevo: sendinblue.com brevo.com mailin.fr
  Constant Contact: constantcontact.com confirmedcc.com
  Fastmail: messagingengine.com
  Freshworks: freshdesk.com freshemail.io
  GMX: gmx.net gmx.com web.de mail.com
  GoDaddy: secureserver.net
  Google: google.com googlemail.com
  HubSpot: hubspotemail.net hubspot.com
  iCloud Mail: apple.com icloud.com
  Intercom: intercom.io intercom-mail.com
  IONOS: kundenserver.de perfora.net ionos.com
  Klaviyo: klaviyomail.com
  Mailchimp: mcsv.net rsgsv.net mcdlv.net mandrillapp.com mailchimpapp.net
  MailerSend: mailersend.net mlsend.com
  Mailgun: mailgun.net mailgun.org mailgun.us
  Mailjet: mailjet.com mailjet.net
  Microsoft: outlook.com microsoft.com hotmail.com office365.com
  Mimecast: mimecast.com mimecast.net
  OVH: ovh.net ovh.com ovh.ca
  Postmark: mtasv.net postmarkapp.com
  Proofpoint: pphosted.com ppe-hosted.com
  Proton Mail: protonmail.ch proton.ch
  Salesforce: salesforce.com exacttarget.com pardot.com
  SendGrid: sendgrid.net sendgrid.com
  Shopify: shopifyemail.com shopify.com
  SparkPost: sparkpostmail.com sparkpost.com
  Stripe: stripe.com
  Yahoo Mail: yahoo.com yahoo.net aol.com
  Yandex: yandex.net yandex.ru yandex.com
  Zendesk: zendesk.com zdsys.com
  Zoho: zoho.com zoho.eu zohomail.com zeptomail.com
`

const BY_DOMAIN = new Map(
  KNOWN.trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', domains = ''] = line.trim().split(': ')
      return domains.split(' ').map((domain) => [domain, name] as const)
    }),
)

/** Confirmed name of a server → the service that runs it; null if unknown. A customer's own name for a rented server is
 *  no service's. */
export function senderOf(host: string): string | null {
  return BY_DOMAIN.get(registrableDomain(host)) ?? null
}
