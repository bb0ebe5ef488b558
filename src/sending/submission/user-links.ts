import { createHmac } from 'node:crypto'
import { LINK_TOKEN, type RecipientPartsOf } from '../../mail/recipient-parts.ts'
import { INSTALLATION } from '../../model/organization.ts'
import type { Random } from '../../os/random.ts'

/** Tokens of links in mail to users. The stored mail has LINK_TOKEN in place of the token, and its metadata a random
 *  value from which only the holder of the secret derives the token. So neither the database nor any view of stored
 *  content shows a link that signs somebody in. */
export interface UserLinks {
  /** A new token, and the metadata of the mail that carries it. */
  mint(): UserLink
  /** RecipientPartsOf → the same, with the token for mail of the installation. */
  fill(partsOf: RecipientPartsOf): RecipientPartsOf
}

export interface UserLink {
  /** 40 hexadecimal digits. */
  token: string
  metadata: { link: string }
}

/** Creates UserLinks from the secret of the store. A token is 160 bits of HMAC-SHA256. */
export function createUserLinks(secret: Uint8Array, random: Random): UserLinks {
  const tokenOf = (link: string) =>
    createHmac('sha256', secret).update(`user link ${link}`).digest().toString('hex', 0, TOKEN_BYTES)
  return {
    mint: () => {
      const link = Buffer.from(random.bytes(TOKEN_BYTES)).toString('hex')
      return { token: tokenOf(link), metadata: { link } }
    },
    fill: (partsOf) => (deliveryId, message, sender) => {
      const parts = partsOf(deliveryId, message, sender)
      const { link } = message.metadata
      // Metadata of other organizations is their own.
      if (message.organizationId !== INSTALLATION || typeof link !== 'string') return parts
      return { ...parts, secrets: { [LINK_TOKEN]: tokenOf(link) } }
    },
  }
}

const TOKEN_BYTES = 20
