/** Event monitors: the logs of contracts that entities record, of new blocks and of old ones. */
export { startHistories } from './histories.ts'
export { insertHistories, openHistories } from './store/histories.ts'
export { dataBytesMax, type EventLog, eventLogsPage, findEventLog } from './store/logs.ts'
export {
  deleteEventMonitor,
  type EventMonitor,
  eventMonitorsPage,
  findEventMonitor,
  findMonitorOfEvent,
  insertEventMonitor,
  type NewEventMonitor,
  setEnabled,
} from './store/monitors.ts'
