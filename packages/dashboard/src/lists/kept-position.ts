/**
 * Where a list was left: its filters and its scroll position. Going back to it, by the browser or by the breadcrumbs of an item, restores
 * both; opening it in any other way begins at its top.
 */

import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

const positions = new Map<string, number>();
const searches = new Map<string, object>();
let isReturning = false;
let isExpected = false;

/** `type` is how the history of the browser changed. */
export function noteNavigation(type: string): void {
  isReturning = type !== "PUSH" && type !== "REPLACE";
}

/** The next list that opens is one that the user returns to. */
export function expectReturn(): void {
  isExpected = true;
}

/** The filters with which a list of an environment was left. */
export function keptSearch(path: string, env: string): object {
  return searches.get(`${path} ${env}`) ?? {};
}

interface KeptList {
  path: string;
  env: string;
  search: object;
  /** Whether it has its rows. */
  isReady: boolean;
}

/** The virtual list sets its own position in the first frames, and may not have its full height yet. */
const FRAMES_MAX = 10;

/** Returns a function that gives up. */
function restore(find: () => HTMLElement | null, top: number, done: () => void): () => void {
  let frames = 0;
  let frame = 0;
  const next = () => {
    const element = find();
    if (element && top > 0) element.scrollTop = top;
    if (++frames < FRAMES_MAX && top > 0) frame = requestAnimationFrame(next);
    else done();
  };
  next();
  return () => cancelAnimationFrame(frame);
}

export function useKeptPosition(scroller: RefObject<HTMLElement | null>, { path, env, search, isReady }: KeptList): void {
  const key = JSON.stringify([path, env, search]);
  const isRestored = useRef(false);
  useEffect(() => {
    const [, , current] = JSON.parse(key) as [string, string, object];
    searches.set(`${path} ${env}`, current);
  }, [key, path, env]);
  useLayoutEffect(() => {
    if (!isReady || isRestored.current) return;
    const top = isReturning || isExpected ? (positions.get(key) ?? 0) : 0;
    isExpected = false;
    return restore(
      () => scroller.current,
      top,
      () => (isRestored.current = true),
    );
  }, [isReady, key, scroller]);
  useEffect(() => {
    const element = scroller.current;
    const onScroll = () => element && isRestored.current && positions.set(key, element.scrollTop);
    element?.addEventListener("scroll", onScroll, { passive: true });
    return () => element?.removeEventListener("scroll", onScroll);
  }, [key, scroller]);
}
