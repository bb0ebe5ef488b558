import { Fifo } from './fifo.ts'

/** Limits work that several clients request and that concerns several groups, such as DNS queries for SMTP clients about
 *  domains. */
export interface FairQueue {
  /** Runs `work` in its turn and resolves with its result; null if it never ran because the queue was full or the
   *  wait too long. `client` null: our own work, limited only by the total. */
  run<T>(client: string | null, group: string, work: () => Promise<T>): Promise<T | null>
}

/** Limits in jobs. */
export interface FairQueueLimits {
  total: number
  /** Running jobs per client, and per group. */
  perClient: number
  perGroup: number
  /** Waiting jobs per client; further ones are rejected. */
  waitingPerClient: number
  /** A job that waits longer is rejected. */
  longestWaitMs: number
}

/** Creates an empty queue. Clients take turns, and so do the groups of one client, so a busy client or a slow group leaves
 *  others their share. Each job costs a constant number of steps. `now` is a monotonic clock in ms. */
export function createFairQueue(limits: FairQueueLimits, now: () => number): FairQueue {
  const clients = new Map<string | null, Client>()
  const groups = new Map<string, Group>()
  /** Clients that have a ready lane and may start one more job, the next one first. */
  const rotation = new Fifo<Client>()
  let running = 0

  const clientOf = (name: string | null): Client => {
    const known = clients.get(name)
    if (known !== undefined) return known
    const client: Client = { name, running: 0, waiting: 0, lanes: new Map(), ready: new Fifo(), inRotation: false }
    clients.set(name, client)
    return client
  }
  const groupOf = (name: string): Group => {
    const known = groups.get(name)
    if (known !== undefined) return known
    const group: Group = { name, running: 0, lanes: 0, parked: new Fifo() }
    groups.set(name, group)
    return group
  }

  const rotate = (client: Client) => {
    if (client.inRotation || client.ready.size === 0 || isAtLimit(client)) return
    client.inRotation = true
    rotation.push(client)
  }
  const isAtLimit = ({ name, running }: Client) => name !== null && running >= limits.perClient
  const isFull = ({ client, group }: Lane) => client.name !== null && group.running >= limits.perGroup

  const add = (job: Job, clientName: string | null, groupName: string) => {
    const client = clientOf(clientName)
    let lane = client.lanes.get(groupName)
    if (lane === undefined) {
      lane = { client, group: groupOf(groupName), jobs: new Fifo() }
      client.lanes.set(groupName, lane)
      lane.group.lanes++
      client.ready.push(lane)
    }
    lane.jobs.push(job)
    client.waiting++
    rotate(client)
    startWaiting()
  }

  const startWaiting = () => {
    while (running < limits.total) {
      const client = rotation.take()
      if (client === undefined) return
      client.inRotation = false
      if (isAtLimit(client)) continue // `release` brings it back
      const lane = client.ready.take()
      if (lane === undefined) continue
      if (isFull(lane)) {
        lane.group.parked.push(lane)
      } else {
        const job = lane.jobs.take()
        client.waiting--
        if (lane.jobs.size > 0) client.ready.push(lane)
        else {
          client.lanes.delete(lane.group.name)
          lane.group.lanes--
        }
        if (job !== undefined) start(job, client, lane.group)
      }
      rotate(client)
    }
  }

  const start = (job: Job, client: Client, group: Group) => {
    if (now() - job.since > limits.longestWaitMs) {
      job.skip()
      unpark(group)
      deleteIdle(client, group)
      return
    }
    running++
    client.running++
    group.running++
    void job.work().finally(() => release(client, group))
  }

  /** The group may start one more job. If the client of a lane is at its limit, the lane waits with its client from now on, and
   *  the next lane may start. */
  const unpark = (group: Group) => {
    for (let lane = group.parked.take(); lane !== undefined; lane = group.parked.take()) {
      lane.client.ready.push(lane)
      rotate(lane.client)
      if (!isAtLimit(lane.client)) return
    }
  }

  const release = (client: Client, group: Group) => {
    running--
    client.running--
    group.running--
    unpark(group)
    rotate(client)
    deleteIdle(client, group)
    startWaiting()
  }

  const deleteIdle = (client: Client, group: Group) => {
    if (client.running === 0 && client.lanes.size === 0) clients.delete(client.name)
    if (group.running === 0 && group.lanes === 0) groups.delete(group.name)
  }

  return {
    run: (client, group, work) => {
      if (client !== null && (clients.get(client)?.waiting ?? 0) >= limits.waitingPerClient)
        return Promise.resolve(null)
      return new Promise((resolve, reject) => {
        const job: Job = { since: now(), work: () => work().then(resolve, reject), skip: () => resolve(null) }
        add(job, client, group)
      })
    },
  }
}

interface Job {
  since: number
  /** Never rejects. */
  work: () => Promise<void>
  skip: () => void
}

interface Client {
  name: string | null
  running: number
  waiting: number
  /** By group: those with waiting jobs. */
  lanes: Map<string, Lane>
  /** Of these, the ones that no full group holds back. */
  ready: Fifo<Lane>
  inRotation: boolean
}

/** The waiting jobs of one client about one group. */
interface Lane {
  client: Client
  group: Group
  jobs: Fifo<Job>
}

interface Group {
  name: string
  running: number
  /** How many lanes there are. */
  lanes: number
  /** Lanes that wait until fewer jobs of the group run. */
  parked: Fifo<Lane>
}
