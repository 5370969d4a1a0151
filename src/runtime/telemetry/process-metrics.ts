import { performance } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'

/** Adds what the process takes of its machine, under the names that programs in all languages use. */
export function addProcessMetrics(registry: Registry): void {
  const registers = [registry]
  const counter = (name: string, help: string, seconds: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(seconds())
      },
    })
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value())
      },
    })
  counter('process_cpu_seconds_total', 'Time of processors, of all threads.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  })
  counter(
    'nodejs_eventloop_active_seconds_total',
    'Time in which the main thread did not wait.',
    () => performance.eventLoopUtilization().active / 1_000,
  )
  gauge('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss)
  gauge(
    'nodejs_heap_size_used_bytes',
    'The part of it that JavaScript uses.',
    () => process.memoryUsage().heapUsed,
  )
  gauge(
    'process_start_time_seconds',
    'Start of the process, since 1970.',
    () => performance.timeOrigin / 1_000,
  )
}
