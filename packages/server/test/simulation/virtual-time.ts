/**
 * Time that passes only when the simulation says so. Timers, Date.now and chance of the whole process come from here, so that the SDK
 * and everything else that is simulated share one clock. Import this file before what is simulated: some modules keep the functions
 * they find when they are loaded.
 *
 * Time stands still while anything can go on without it: `settle` returns when nothing is scheduled for this instant any more.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { Random } from "./random.ts";

/** Whoever sets a timer in the name of a process that was killed is not called any more. */
export interface Life {
  isDead: boolean;
}

interface Timer {
  at: number;
  order: number;
  work: (() => void) | null;
  life: Life | undefined;
}

export const lives = new AsyncLocalStorage<Life>();

const START_MS = Date.UTC(2030, 0, 1);
/** Turns of the event loop without anything scheduled after which nothing is going on. */
const IDLE_TURNS = 2;

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  dateNow: Date.now,
  random: Math.random,
  getRandomValues: crypto.getRandomValues,
};

let heap: Timer[] = [];
let nowMs = START_MS;
let order = 0;
let immediates = 0;
let chance = new Random(0);
let isVirtual = false;

/** A setImmediate that is counted, in place before anything else is loaded. */
globalThis.setImmediate = ((work: (...args: unknown[]) => void, ...args: unknown[]) => {
  immediates++;
  return real.setImmediate(() => {
    immediates--;
    work(...args);
  });
}) as typeof setImmediate;

/** From now on, time is virtual. Every simulation begins at the same instant. */
export function beginVirtualTime(seed: number): void {
  heap = [];
  nowMs = START_MS;
  order = 0;
  chance = new Random(seed, "chance");
  isVirtual = true;
  globalThis.setTimeout = ((work: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) =>
    handle(schedule(delayMs, () => work(...args)))) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Handle | undefined) => timer && cancel(timer.timer)) as unknown as typeof clearTimeout;
  globalThis.setInterval = ((work: () => void, everyMs: number) => interval(work, everyMs)) as unknown as typeof setInterval;
  globalThis.clearInterval = globalThis.clearTimeout;
  Date.now = () => nowMs;
  Math.random = () => chance.next();
  crypto.getRandomValues = ((bytes: Uint8Array) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = chance.int(0, 255);
    return bytes;
  }) as typeof crypto.getRandomValues;
}

export function endVirtualTime(): void {
  isVirtual = false;
  const { setTimeout, clearTimeout, setInterval, clearInterval, dateNow, random, getRandomValues } = real;
  Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
  Date.now = dateNow;
  Math.random = random;
  crypto.getRandomValues = getRandomValues;
}

export function now(): number {
  return isVirtual ? nowMs : real.dateNow();
}

/** Returns how to call it off. */
export function after(delayMs: number, work: () => void): () => void {
  if (!isVirtual) return afterReal(delayMs, work);
  const timer = schedule(delayMs, work);
  return () => cancel(timer);
}

/** The same where time is real: nobody is called in the name of a process that was killed. */
function afterReal(delayMs: number, work: () => void): () => void {
  const life = lives.getStore();
  const timer = real.setTimeout(() => {
    realTimers.delete(timer);
    if (!life?.isDead) work();
  }, delayMs);
  realTimers.add(timer);
  return () => {
    realTimers.delete(timer);
    real.clearTimeout(timer);
  };
}

const realTimers = new Set<ReturnType<typeof setTimeout>>();

/** The scenario is over: nothing that waits for its time keeps the process. */
export function dropRealTimers(): void {
  for (const timer of realTimers) real.clearTimeout(timer);
  realTimers.clear();
}

export function pass(delayMs: number): Promise<void> {
  return new Promise((resolve) => void after(delayMs, resolve));
}

/** When the next timer is due; null when there is none. */
export function nextTimerAt(): number | null {
  while (heap[0] && (!heap[0].work || heap[0].life?.isDead)) pop();
  return heap[0]?.at ?? null;
}

/** Time goes on to the next timer, which is run. */
export function fireNext(): void {
  if (nextTimerAt() === null) return;
  const timer = pop();
  nowMs = Math.max(nowMs, timer.at);
  const { work } = timer;
  timer.work = null;
  work?.();
}

export function turn(): Promise<void> {
  return new Promise((resolve) => real.setImmediate(resolve));
}

/** Everything that needs no time to pass has happened. */
export async function settle(): Promise<void> {
  for (let idle = 0; idle < IDLE_TURNS; ) {
    await turn();
    idle = immediates === 0 ? idle + 1 : 0;
  }
}

interface Handle {
  timer: Timer;
  unref(): Handle;
  ref(): Handle;
  hasRef(): boolean;
}

function handle(timer: Timer): Handle {
  const made: Handle = { timer, unref: () => made, ref: () => made, hasRef: () => true };
  return made;
}

function interval(work: () => void, everyMs: number): Handle {
  const again = () => {
    made.timer = schedule(everyMs, again);
    work();
  };
  const made = handle(schedule(everyMs, again));
  return made;
}

function schedule(delayMs: number, work: () => void): Timer {
  // Whole milliseconds and no timer before the next one, as Node has it.
  const at = nowMs + Math.max(Math.trunc(delayMs) || 0, 1);
  const timer: Timer = { at, order: order++, work: lives.getStore() ? AsyncLocalStorage.bind(work) : work, life: lives.getStore() };
  let child = heap.push(timer) - 1;
  while (child > 0) {
    const parent = (child - 1) >> 1;
    if (!isBefore(timer, heap[parent] as Timer)) break;
    heap[child] = heap[parent] as Timer;
    child = parent;
  }
  heap[child] = timer;
  return timer;
}

function cancel(timer: Timer): void {
  timer.work = null;
}

function pop(): Timer {
  const first = heap[0] as Timer;
  const last = heap.pop() as Timer;
  if (heap.length === 0) return first;
  let parent = 0;
  for (;;) {
    let child = 2 * parent + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child++;
    if (!isBefore(heap[child] as Timer, last)) break;
    heap[parent] = heap[child] as Timer;
    parent = child;
  }
  heap[parent] = last;
  return first;
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
