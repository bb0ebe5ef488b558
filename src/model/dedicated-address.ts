/** A sending address that belongs to one organization. */
export interface DedicatedAddress {
  address: string
  organizationId: string
  assignedAt: number
  /** When the organization lost its claim, as by another plan (ms UTC); null while it has one. The address keeps sending
   *  its mail until what was accepted before has ended. */
  leavingSince: number | null
}
