/** Whether a listener runs short of connections. Under stress it closes silent clients sooner and allows fewer errors,
 *  which frees places for clients that send mail. Postfix does the same (STRESS_README). */
export interface Stress {
  isOn(): boolean
  /** Call it whenever a connection opens or closes. */
  update(connections: number): void
}

/** Share of the connection limit where stress starts and where it ends. The gap avoids toggling with every
 *  connection. */
const BEGINS_AT = 0.8
const ENDS_AT = 0.6

/** Creates Stress from the limit of connections, initially off. Calls `onChange` at each start and end. */
export function createStress(most: number, onChange: (isOn: boolean) => void): Stress {
  let isOn = false
  return {
    isOn: () => isOn,
    update: (connections) => {
      const next = connections >= most * (isOn ? ENDS_AT : BEGINS_AT)
      if (next === isOn) return
      isOn = next
      onChange(isOn)
    },
  }
}
