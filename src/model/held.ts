/** Number of entries on hold after a restore, by queue. */
export interface HeldCounts {
  deliveries: number
  webhookDeliveries: number
  inboundDeliveries: number
}

/** → `1 delivery, 0 webhook deliveries and 2 inbound deliveries`. */
export function heldText({ deliveries, webhookDeliveries, inboundDeliveries }: HeldCounts): string {
  return `${counted(deliveries, '')}, ${counted(webhookDeliveries, 'webhook ')} and ${counted(inboundDeliveries, 'inbound ')}`
}

const counted = (count: number, kind: string) => `${count} ${kind}${count === 1 ? 'delivery' : 'deliveries'}`
