import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '../version.ts'
import { addProcessMetrics } from './process-metrics.ts'

/** Bucket bounds in seconds: from a response out of memory to one that waits for a node. */
const requestBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10]

const deliveryOutcomes = ['delivered', 'retried', 'failed', 'dropped'] as const

export type Metrics = ReturnType<typeof openMetrics>

/**
 * Creates the metrics of a process, in a registry of their own. `docs/operate.md` documents each of them. None is labelled by
 * entity, wallet or raw path: the number of series must not grow with customers or with arbitrary requests.
 */
export function openMetrics() {
  const registry = new Registry()
  const about = <Label extends string>(name: string, help: string, labelNames: Label[]) => ({
    name: `bezant_${name}`,
    help,
    labelNames,
    registers: [registry],
  })
  const gauge = <Label extends string>(name: string, help: string, ...labels: Label[]) =>
    new Gauge(about(name, help, labels))
  const counter = <Label extends string>(name: string, help: string, ...labels: Label[]) =>
    new Counter(about(name, help, labels))
  const deliveries = counter('deliveries_total', 'Attempts to deliver a notification.', 'outcome')
  for (const outcome of deliveryOutcomes) deliveries.inc({ outcome }, 0)
  const loggedRequests = counter('request_log_rows_total', 'Requests for the request log.', 'outcome')
  for (const outcome of ['written', 'dropped'] as const) loggedRequests.inc({ outcome }, 0)
  addProcessMetrics(registry)
  gauge('build_info', 'The version of the program.', 'version').set({ version }, 1)
  return {
    registry,
    ready: gauge('ready', '1 for each part that is ready.', 'part'),
    clockOff: gauge('clock_off_seconds', 'How far the clock of the machine is ahead of the database.'),
    journalsAwaited: gauge('journals_awaited', 'Journals that signing waits for.'),
    journalFree: gauge('journal_free_bytes', 'Space that is left where this process has its journal.'),
    requests: new Histogram({
      ...about('http_request_duration_seconds', 'Requests answered.', ['method', 'route', 'status']),
      buckets: requestBuckets,
    }),
    loggedRequests,
    deliveries,
    deliveriesWaiting: gauge('deliveries_waiting', 'Unfinished deliveries.'),
    deliveriesAge: gauge('deliveries_oldest_age_seconds', 'Age of the oldest waiting delivery.'),
    alarms: counter('alarms_total', 'Alarms raised since the process started.', 'alarm'),
    alarmsOpen: gauge('alarms_open', 'Causes of alarms that hold now.', 'alarm'),
    replicaReads: counter('replica_requests_total', 'Requests that replicas may serve.', 'outcome'),
    replicaUsed: gauge('replica_used', '1 while reads go to the replica.', 'host', 'position'),
    replicaLag: gauge('replica_lag_bytes', 'Log that it has not replayed.', 'host', 'position'),
    poolWaiting: gauge('db_pool_waiting', 'Calls that wait for a database connection.', 'pool'),
    queueDepth: gauge('queue_depth', 'Pending transactions.', 'blockchain', 'state'),
    queueAge: gauge('queue_oldest_age_seconds', 'Age of the oldest of them.', 'blockchain', 'state'),
    chainState: gauge('chain_state', '1 for the state that the chain is in.', 'blockchain', 'state'),
    lagBlocks: gauge('chain_lag_blocks', 'Blocks of the node that are not booked yet.', 'blockchain'),
    lagSeconds: gauge('chain_lag_seconds', 'How much older the newest booked block is.', 'blockchain'),
    histories: gauge('event_histories', 'Histories that monitors have still to read.', 'blockchain'),
    historiesRefused: gauge(
      'event_histories_refused_seconds',
      'How long nodes have refused one of them.',
      'blockchain',
    ),
    endpointErrors: gauge(
      'endpoint_errors_ratio',
      'Share of failed calls.',
      'blockchain',
      'host',
      'position',
    ),
    endpointLatency: gauge('endpoint_latency_seconds', 'Time of a call.', 'blockchain', 'host', 'position'),
    endpointHead: gauge('endpoint_head_blocks', 'Its newest block.', 'blockchain', 'host', 'position'),
    endpointLag: gauge(
      'endpoint_lag_blocks',
      'Blocks that the highest endpoint has and it has not.',
      'blockchain',
      'host',
      'position',
    ),
    transfersOmitted: counter('transfers_omitted_total', 'Transfers that are not recorded.', 'blockchain'),
    gaps: counter('reconcile_gaps_total', 'Gaps found between books and chain.', 'blockchain'),
    gapsOpen: gauge('reconcile_gaps_open', 'Gaps between books and chain that are open.', 'blockchain'),
  }
}
